//! Calls that a tool makes itself.

use crate::call::{ToolCall, ToolResult};
use crate::context::{Host, ToolContext};
use crate::pool::{Scope, ToolPool};
use crate::tool::BoxFuture;
use std::sync::Arc;

impl Host for Scope {
    fn call_all<'a>(
        self: Arc<Self>,
        calls: Vec<ToolCall>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Vec<ToolResult>> {
        Box::pin(async move { ToolPool::of_scope(self).batch(calls).context(context).run().await })
    }
}
