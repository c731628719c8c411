//! Calls. There are two paths: `plain` (decode, run) and `governed` (all stages, one per file in `stage`, with one
//! `ending`). Calls by name, by JSON, by type, in batches, by other tools, and rejected ones take one of the two.
//!
//! The plain path is pinned where it is created and passes a pointer to the next stage: moving futures and observations
//! was a quarter of the cost of a small call. The governed path is boxed once, at its entry. A tool whose call ends early
//! (time limit, cancellation, dropped future) is notified by `interrupt`.
//!
//! Arguments are decoded from text without a `serde_json::Value`. Only when decoding rejects them are
//! they parsed as a value and walked by the schema, which finds every issue and words it. The error of
//! the decoder itself is used where the schema has no rule: a hand-written `Deserialize`, a repeated
//! key. The schema is walked before decoding if it asserts more than decoding enforces: schemars
//! attributes on users' types, `input_schema`, closures. This is determined on the first call of a tool.

mod batch;
mod blocking;
mod check;
mod ending;
mod execution;
mod governed;
mod guard;
#[cfg(feature = "tower")]
mod layered;
mod nested;
mod offering;
mod plain;
mod report;
#[cfg(feature = "tower")]
mod service;
mod span;
mod stage;
#[cfg(test)]
mod tests;
pub(crate) mod typed;
mod typed_value;

pub use batch::Batch;
pub use blocking::BlockingPool;
#[cfg(feature = "tower")]
pub use service::CallService;
pub use typed::{CallAction, TypedArguments};
pub use typed_value::TypedValue;

use crate::pool::{PooledTool, ToolPool};
use crate::tool::call::{ToolCall, ToolResult};
use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::vocabulary::error::{CallError, ErrorClass};
use governed::Arrival;
use stage::closed_pool;
use std::borrow::Cow;
use std::convert::identity;
use std::pin::pin;

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
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
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
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
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
        if let Err(cut) = call.check_complete() {
            return self.reject(call, &context, cut).await;
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
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
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
        found: Result<PooledTool, CallError>,
        name: &str,
        arguments: &str,
        context: &ToolContext,
        finish: impl FnOnce(Observation) -> T,
    ) -> Result<T, CallError> {
        // A call that a tool makes is inside the layers already, with its caller.
        #[cfg(feature = "tower")]
        if let Some(layers) =
            self.governance().layers.as_ref().filter(|_| !context.is_in_layers(self.layers_id()))
        {
            let call =
                ToolCall::new(name, arguments).with_call_id(context.call_id().unwrap_or_default());
            return Box::pin(layered::call(layers, self, call, context)).await.map(finish);
        }
        // Pinned in place, so that each stage gets a pointer to the next.
        let span = span::of_call(name, &found, context);
        let arrival = Arrival { name, arguments, context, found };
        let stages = pin!(self.stages(arrival, finish));
        span::within(span, pin!(guard::catch_and_report(name, stages))).await
    }

    /// An id of the pool, for calls inside its layers.
    #[cfg(feature = "tower")]
    fn layers_id(&self) -> usize {
        std::ptr::from_ref(self.governance()).addr()
    }

    /// Runs all stages, without the layers.
    #[cfg(feature = "tower")]
    pub(crate) async fn run_without_layers(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<Observation, CallError> {
        let (name, arguments) = (call.name(), call.arguments());
        let context = &context.clone().in_layers(self.layers_id());
        let found = self.find(name);
        let span = span::of_call(name, &found, context);
        let arrival = Arrival { name, arguments, context, found };
        let stages = pin!(self.stages(arrival, identity));
        span::within(span, pin!(guard::catch_and_report(name, stages))).await
    }

    /// Takes one of the two paths. A call keeps its own tool alive after its removal, but no other tool.
    async fn stages<T>(
        &self,
        arrival: Arrival<'_>,
        finish: impl FnOnce(Observation) -> T,
    ) -> Result<T, CallError> {
        match &arrival.found {
            Ok(found)
                if !found.is_governed()
                    && !self.governance().governs_all()
                    && !arrival.context.makes_steps() =>
            {
                let Arrival { arguments, context, .. } = arrival;
                plain::run(self, found.tool(), arguments, context, finish).await
            }
            _ => self.governed(arrival).await.map(finish),
        }
    }

    /// The outcome of a call that is rejected before its tool is looked up: hooks and records see it like others.
    async fn reject(
        &self,
        call: &ToolCall,
        context: &ToolContext,
        error: CallError,
    ) -> Result<Observation, CallError> {
        let (name, arguments) = (call.name(), call.arguments());
        let context = context.clone().with_call_id(call.call_id());
        let arrival = Arrival { name, arguments, context: &context, found: Err(error) };
        guard::catch_and_report(name, self.governed(arrival)).await
    }
}
