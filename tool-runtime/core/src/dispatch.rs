//! The stages of a call, one per file; fewer for prompts and resources.
//!
//! Stages are pinned where they are created and pass a pointer to the next one: moving futures and
//! observations between stages was a quarter of the cost of a small call. `intercepted` is boxed, so
//! that calls which skip it do not carry its size. A tool whose call ends early (time limit,
//! cancellation, dropped future) is notified by `interrupt`.
//!
//! Arguments are decoded from text without a `serde_json::Value`. Only when decoding rejects them are
//! they parsed as a value and walked by the schema, which finds every issue and words it. The error of
//! the decoder itself is used where the schema has no rule: a hand-written `Deserialize`, a repeated
//! key. The schema is walked before decoding if it asserts more than decoding enforces: schemars
//! attributes on users' types, `input_schema`, closures. This is determined on the first call of a tool.

mod batch;
mod check;
mod ending;
mod execution;
mod external;
mod guard;
mod hooked;
mod intercepted;
#[cfg_attr(not(feature = "tower"), allow(dead_code))]
mod layered;
mod nested;
mod offering;
mod rejection;
mod report;
mod resolve;
mod resources;
mod scopes;
mod typed;
mod typed_governed;

pub use batch::Batch;
pub use external::{ExternalAction, structured_output};
#[cfg(feature = "tower")]
pub(crate) use layered::layered;
pub use typed::CallAction;

use crate::call::{ToolCall, ToolResult};
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass};
use crate::future::BoxFuture;
use crate::observation::Observation;
use crate::pool::{Found, ToolPool};
use crate::repair::Repair;
use crate::tool::Tool;
use std::borrow::Cow;
use std::convert::identity;
use std::pin::pin;
use std::sync::Arc;

impl ToolPool {
    /// Runs one call. A failure is part of the result.
    ///
    /// Dropping the future cancels the call.
    ///
    /// The tool runs in the caller's task. An `async` tool that blocks its thread blocks the caller:
    /// neither its time limit nor a cancellation can interrupt it before its next `.await`. In a
    /// served pool (`McpServer`) the limit is kept, and the log names such tools.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder()
    ///     .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
    ///     .build()?;
    /// let result = pool.call(ToolCall::new("ping", "")).await;
    /// assert_eq!(result.observation().to_text(), "pong");
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub async fn call(&self, call: ToolCall) -> ToolResult {
        let outcome = self.outcome(&call, Cow::Borrowed(self.shared_context())).await;
        ToolResult::new(call, outcome)
    }

    /// Runs one call in a context: [`Self::context`] with a cancellation token, for instance. The
    /// id of the call is added to the context.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// use tool_runtime::CancellationToken;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder()
    ///     .add(Tool::builder("wait", "Wait until cancelled.").handler(|| std::future::pending::<()>()))
    ///     .build()?;
    /// let token = CancellationToken::new();
    /// let context = pool.context().with_cancellation(token.clone());
    /// token.cancel();
    /// let result = pool.call_with(ToolCall::new("wait", ""), &context).await;
    /// assert_eq!(result.error().unwrap().class(), ErrorClass::Cancelled);
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub async fn call_with(&self, call: ToolCall, context: &ToolContext) -> ToolResult {
        let outcome = self.outcome(&call, Cow::Borrowed(context)).await;
        ToolResult::new(call, outcome)
    }

    /// Runs one call. A context of its own, as the call of a batch has, is not copied.
    async fn outcome(
        &self,
        call: &ToolCall,
        context: Cow<'_, ToolContext>,
    ) -> Result<Observation, CallError> {
        if let Err(too_deep) = context.check_nesting() {
            let error = CallError::new(ErrorClass::Denied, too_deep);
            return self.reject(call, &context, error).await;
        }
        let mut context = self.hosting(context);
        if !call.call_id().is_empty() {
            context = Cow::Owned(context.into_owned().with_call_id(call.call_id()));
        }
        let (name, arguments) = (call.name(), call.arguments());
        self.dispatch(self.find(name), name, arguments, &context, identity).await
    }

    /// JSON text in, JSON text out: the arguments of the tool, and MCP's `CallToolResult`.
    /// Failures are results with `isError`.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder()
    ///     .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
    ///     .build()?;
    /// assert_eq!(pool.call_json("ping", "{}").await, r#"{"content":[{"type":"text","text":"pong"}]}"#);
    /// assert!(pool.call_json("pong", "{}").await.contains("did you mean `ping`?"));
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub async fn call_json(&self, name: &str, arguments: &str) -> String {
        let to_json = |observation: Observation| observation.to_json();
        let (found, context) = (self.find(name), self.shared_context());
        match self.dispatch(found, name, arguments, context, to_json).await {
            Ok(json) => json,
            Err(error) => Observation::error(error.message()).to_json(),
        }
    }

    /// A context over the pool's state, for [`Self::call_with`].
    pub fn context(&self) -> ToolContext {
        self.shared_context().clone()
    }

    /// All stages after the lookup; a failure is logged once. `finish` converts the observation where
    /// it arises: it is too large to be moved from stage to stage.
    #[doc(hidden)]
    pub async fn dispatch<T>(
        &self,
        found: Result<Found, CallError>,
        name: &str,
        arguments: &str,
        context: &ToolContext,
        finish: impl FnOnce(Observation) -> T,
    ) -> Result<T, CallError> {
        // A call that a tool makes is inside of the layers already, with its caller.
        if let Some(layered) = self.governance().layered.as_ref().filter(|_| !context.is_nested()) {
            let call =
                ToolCall::new(name, arguments).with_call_id(context.call_id().unwrap_or_default());
            return layered.call(Arc::new(self.clone()), call, context).await.map(finish);
        }
        // Pinned in place, so that each stage gets a pointer to the next.
        let stages = pin!(self.stages(found, name, arguments, context, finish));
        guard::catch_and_report(name, stages).await
    }

    /// Runs all stages, without the layers.
    #[cfg_attr(not(feature = "tower"), allow(dead_code))]
    pub(crate) async fn run_without_layers(
        &self,
        name: &str,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<Observation, CallError> {
        let stages = pin!(self.stages(self.find(name), name, arguments, context, identity));
        guard::catch_and_report(name, stages).await
    }

    /// One stage per line. A call keeps its own tool alive after its removal, but no other tool.
    async fn stages<T>(
        &self,
        found: Result<Found, CallError>,
        name: &str,
        arguments: &str,
        context: &ToolContext,
        finish: impl FnOnce(Observation) -> T,
    ) -> Result<T, CallError> {
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                return self.not_found(name, arguments, context, error).await.map(finish);
            }
        };
        let tool = found.tool();
        if found.is_governed() || tool.is_intercepted() || self.governance().intercepts_all() {
            let call = self.intercepted(&found, arguments, context, Vec::new());
            return call.await.map(finish);
        }
        let outcome = if guard::is_unbounded(self, tool, context) {
            execution::of_tool(tool, None, arguments, context).await
        } else {
            let (limit, context) = guard::bounds(self, tool, Cow::Borrowed(context));
            // The arguments are decoded within the limit.
            let call = pin!(async { execution::of_tool(tool, None, arguments, &context).await });
            guard::guarded(call, tool.name(), limit, &context).await?
        };
        match outcome {
            Err(error) if self.may_repair(&error, tool, arguments) => {
                let call = self.intercepted(&found, arguments, context, Vec::new());
                call.await.map(finish)
            }
            outcome => outcome.map(finish),
        }
    }

    /// Whether a call was rejected because of arguments that can be repaired. A tool that ran and
    /// failed with this class must not run again.
    fn may_repair(&self, error: &CallError, tool: &Tool, arguments: &str) -> bool {
        let repair = self.governance().repair.filter(|_| error.class() == ErrorClass::Input);
        let is_invalid = || tool.has_action() && tool.decode(arguments).is_err();
        repair.is_some_and(|repair| repair.arguments(tool, arguments, is_invalid()).is_some())
    }

    /// A call of a name that the pool does not have: runs the tool that the name means, or fails.
    #[cold]
    fn not_found<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a str,
        context: &'a ToolContext,
        error: CallError,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move {
            let repair = self.governance().repair.filter(|_| error.class() == ErrorClass::NotFound);
            let meant = repair.and_then(|repair| repair.name(self.current().tools(), name));
            let Some(Ok(found)) = meant.map(|meant| self.find(&meant)) else {
                return self.rejected(name, arguments, context, error).await;
            };
            self.intercepted(&found, arguments, context, vec![Repair::tool_name()]).await
        })
    }
}
