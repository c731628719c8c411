//! Runs hooks with a time limit, and catches their panics.

use super::{After, AfterCall, Before, Hook, HookCall, Run, Running};
use crate::tool::context::ToolContext;
use crate::vocabulary::error::{CallError, ErrorClass, ToolError, panic_message};
use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use std::future::ready;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The failure of a hook. The message continues a sentence that starts with the hook.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("failed: {0}")]
    Failed(String),
    #[error("panicked: {0}")]
    Panicked(String),
    #[error("did not answer within {0:?}")]
    TimedOut(Duration),
    #[error("rewrote the arguments, and the tool rejects them: {0}")]
    Invalid(String),
}

impl Hook {
    /// Runs the hook before a call. One that runs after calls lets it proceed.
    pub(crate) async fn run_before(self: &Arc<Self>, call: &HookCall) -> Result<Before, Failure> {
        let own = call.clone();
        let start = |hook: &Self| match &hook.run {
            Run::Before(run) => run(own),
            Run::After(_) => Box::pin(ready(Ok(Before::proceed()))),
        };
        self.within_limit(call.context(), start).await
    }

    /// Runs the hook after a call. One that runs before calls keeps the outcome.
    pub(crate) async fn run_after(
        self: &Arc<Self>,
        call: &HookCall,
        after: AfterCall,
    ) -> Result<After, Failure> {
        let own = call.clone();
        let start = |hook: &Self| match &hook.run {
            Run::After(run) => run(own, after),
            Run::Before(_) => Box::pin(ready(Ok(After::keep()))),
        };
        self.within_limit(call.context(), start).await
    }

    /// Runs user code on behalf of the hook, within its time limit.
    pub(crate) async fn within_limit<T: Send + 'static>(
        self: &Arc<Self>,
        context: &ToolContext,
        start: impl FnOnce(&Self) -> Running<T> + Send + 'static,
    ) -> Result<T, Failure> {
        // All code that may panic: the closure, its future, the `Display` of its error, destructors, and the timer
        // of a runtime without one.
        let outcome = catch_panic(async {
            let run = match context.runs_apart() {
                false => start(self),
                true => {
                    let own = Arc::clone(self);
                    context.apart(|| self.title(), move || start(&own))
                }
            };
            // Most hooks end at once, and need no timer.
            let result = match select(run, ready(())).await {
                Either::Left((result, _)) => Ok(result),
                Either::Right(((), run)) => timeout(self.timeout, run).await,
            };
            match result {
                Ok(result) => result.map_err(|error| Failure::Failed(error_text(error))),
                Err(_) => Err(Failure::TimedOut(self.timeout)),
            }
        });
        outcome.await.unwrap_or_else(|panic| Err(Failure::Panicked(panic)))
    }
}

/// Catches panics of the future and returns their message.
pub(crate) async fn catch_panic<T>(future: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(future).catch_unwind().await.map_err(panic_message)
}

/// The error with its details, for the operator.
fn error_text(error: ToolError) -> String {
    let error = CallError::from(error);
    match error.detail() {
        None => error.message().to_owned(),
        // The text for the model adds nothing: it is generic, or the chain starts with it.
        Some(chain) if is_in(&error, chain) => chain.to_owned(),
        Some(chain) => format!("{error}: {chain}"),
    }
}

fn is_in(error: &CallError, chain: &str) -> bool {
    error.class() == ErrorClass::Internal || chain.starts_with(error.message())
}
