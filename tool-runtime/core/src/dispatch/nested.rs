//! Calls that a tool makes itself.

use crate::pool::{Scope, ToolPool};
use crate::tool::call::{ToolCall, ToolResult};
use crate::tool::context::ToolContext;
use crate::vocabulary::error::{CallError, ErrorClass};

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
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub async fn call(&self, call: ToolCall) -> ToolResult {
        let mut results = self.call_all([call]).await;
        results.pop().expect("a batch of one has one result")
    }

    /// The pool that runs the call, as a handle with its own scope: its restrictions apply to calls
    /// through it. For tools that change the tools of the pool. `None` without a pool, as in a test
    /// that calls a function directly. The handle keeps the pool alive.
    ///
    /// ```
    /// use tool_runtime::pool::Source;
    /// use tool_runtime::prelude::*;
    ///
    /// /// Learn to ping.
    /// #[tool]
    /// async fn learn(context: &ToolContext) -> Result<(), ToolError> {
    ///     let pool = context.pool().ok_or("there is no pool")?;
    ///     let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    ///     pool.add_tools(&Source::owner("learnt"), [ping])?;
    ///     Ok(())
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder().tool::<LearnAction>().build()?;
    /// pool.call(ToolCall::new("learn", "")).await;
    /// assert_eq!(pool.tools().len(), 2);
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub fn pool(&self) -> Option<ToolPool> {
        self.host::<Scope>().map(|host| ToolPool::of_scope(host).scope_of(self))
    }

    /// Calls other tools of the pool as one batch: under the same restrictions and hooks as
    /// every call, with this call's state, cancellation and deadline. What this call holds of
    /// declared resources does not block them.
    ///
    /// Without a pool, as in a test that calls a function itself, each result is an error.
    pub async fn call_all(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<ToolResult> {
        let calls: Vec<ToolCall> = calls.into_iter().collect();
        let Some(host) = self.host::<Scope>() else {
            let error =
                || CallError::new(ErrorClass::Denied, "there is no pool to call other tools of");
            return calls.into_iter().map(|call| ToolResult::new(call, Err(error()))).collect();
        };
        let pool = ToolPool::of_scope(host);
        match self.nested() {
            Ok(nested) => Box::pin(pool.batch(calls).context(&nested).run()).await,
            Err(too_deep) => {
                let error = || CallError::new(ErrorClass::Denied, too_deep.clone());
                let mut rejected = Vec::new();
                for call in calls {
                    let outcome = pool.reject(&call, self, error()).await;
                    rejected.push(ToolResult::new(call, outcome));
                }
                rejected
            }
        }
    }
}
