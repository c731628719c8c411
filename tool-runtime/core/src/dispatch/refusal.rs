//! Calls that are refused before their tool runs: they are logged, and after-hooks see them.

use super::guard;
use crate::call::{ToolCall, ToolResult};
use crate::context::ToolContext;
use crate::error::CallError;
use crate::future::BoxFuture;
use crate::hook::HookCall;
use crate::observation::Observation;
use crate::pool::{Found, ToolPool};
use std::time::Duration;

impl ToolPool {
    /// The result of a call that is refused.
    pub(super) async fn refuse(
        &self,
        call: ToolCall,
        context: &ToolContext,
        refusal: CallError,
    ) -> ToolResult {
        let context = context.clone().with_call_id(call.call_id());
        let refused = self.refused(call.name(), call.arguments(), &context, refusal);
        let outcome = guard::catch_and_report(call.name(), refused).await;
        ToolResult::new(call, outcome)
    }

    /// Shows a refusal to the after-hooks, if the pool has the tool.
    #[cold]
    pub(super) fn refused<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a str,
        context: &'a ToolContext,
        refusal: CallError,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move {
            let Some(Found { tool, hooks: Some(hooks), .. }) = self.known(name) else {
                return Err(refusal);
            };
            if !hooks.reads_results() {
                return Err(refusal);
            }
            let call = HookCall::new(tool, arguments, context.clone());
            hooks.after(call, Err(refusal), Duration::ZERO).await
        })
    }
}
