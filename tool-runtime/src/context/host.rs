//! What a call reaches of the pool that runs it, without knowing pools.

use super::ToolContext;
use crate::call::{ToolCall, ToolResult};
use crate::error::{CallError, ErrorClass};
use crate::tool::BoxFuture;
use std::fmt;
use std::sync::{Arc, Weak};

/// How deep calls may nest: a tool that calls itself for ever must end somewhere, and before the
/// stack does. With hooks and layers a call takes up to 70 KiB of it in a debug build, and threads
/// of a runtime have 2 MiB.
const DEEPEST: u16 = 16;

/// Who runs the calls that a tool makes itself.
pub(crate) trait Host: Send + Sync {
    /// Runs calls as one batch.
    fn call_all<'a>(
        self: Arc<Self>,
        calls: Vec<ToolCall>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Vec<ToolResult>>;
}

/// A host that a context does not keep alive.
#[derive(Clone)]
pub(crate) struct HostRef(pub(crate) Weak<dyn Host>);

impl fmt::Debug for HostRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostRef")
    }
}

impl ToolContext {
    /// Calls another tool of the pool, as [`Self::call_all`] does.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder()
    ///     .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
    ///     .add(Tool::builder("twice", "Ping twice.").handler(
    ///         |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| async move {
    ///             let one = context.call(ToolCall::new("ping", "")).await;
    ///             let two = context.call(ToolCall::new("ping", "")).await;
    ///             format!("{} {}", one.observation().to_text(), two.observation().to_text())
    ///         },
    ///     ))
    ///     .build()?;
    /// assert_eq!(pool.call(ToolCall::new("twice", "")).await.observation().to_text(), "pong pong");
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub async fn call(&self, call: ToolCall) -> ToolResult {
        let mut results = self.call_all([call]).await;
        results.pop().expect("a batch of one has one result")
    }

    /// Calls other tools of the pool as one batch: under the same restrictions and hooks as
    /// every call, with this call's state, cancellation and deadline. What this call holds of
    /// declared resources does not stand in their way.
    ///
    /// Without a pool, as in a test that calls a function itself, each answer is an error.
    pub async fn call_all(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<ToolResult> {
        let calls: Vec<ToolCall> = calls.into_iter().collect();
        let host = self.host.as_ref().and_then(|host| host.0.upgrade());
        let refusal = match host {
            Some(host) if self.depth < DEEPEST => {
                let depth = self.depth + 1;
                let nested = Self { depth, call_id: None, receiver: None, ..self.clone() };
                return host.call_all(calls, &nested).await;
            }
            Some(_) => {
                format!("calls nest deeper than {DEEPEST}; do the rest without calling tools")
            }
            None => "there is no pool to call other tools of".to_owned(),
        };
        let refused = || CallError::new(ErrorClass::Denied, refusal.clone());
        calls.into_iter().map(|call| ToolResult::new(call, Err(refused()))).collect()
    }

    /// Whether the calls that a tool makes itself are run by this one.
    pub(crate) fn is_hosted_by<H: Host>(&self, host: &Arc<H>) -> bool {
        let own = self.host.as_ref().map(|own| own.0.as_ptr().cast::<()>());
        own == Some(Arc::as_ptr(host).cast::<()>())
    }

    /// Sets who runs the calls that a tool makes itself.
    pub(crate) fn with_host(mut self, host: Weak<dyn Host>) -> Self {
        self.host = Some(HostRef(host));
        self
    }
}
