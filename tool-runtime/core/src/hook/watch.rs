//! Runs user code with a time limit, and catches its panics.

use super::{Hook, Running};
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass, ToolError, panic_message};
use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

/// The failure of a hook. The message continues a sentence that starts with the hook.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("failed: {0}")]
    Failed(String),
    #[error("panicked: {0}")]
    Panicked(String),
    #[error("did not answer within {0:?}")]
    TimedOut(Duration),
    #[error("rewrote the arguments, and the tool rejects them: {0}")]
    Invalid(String),
}

/// Runs a hook within its time limit.
pub(super) async fn run_hook<T: Send + 'static>(
    hook: &Hook,
    context: &ToolContext,
    start: impl FnOnce() -> Running<T> + Send + 'static,
) -> Result<T, Failure> {
    // All code that may panic: the closure, the `Display` of an error, destructors, the timer.
    let run = pin!(async {
        let run = async {
            let outcome = context.apart(|| hook.title(), start).await;
            outcome.map_err(|error| Failure::Failed(error_text(error)))
        };
        // The timer is created and boxed when the hook is first pending: most do not wait.
        let expiry = async { Box::pin(tokio::time::sleep(hook.timeout)).await };
        match select(pin!(run), pin!(expiry)).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right(((), _)) => Err(Failure::TimedOut(hook.timeout)),
        }
    });
    catch_panic(run).await.unwrap_or_else(|panic| Err(Failure::Panicked(panic)))
}

/// Catches panics of the future and returns their message. They come from the polled code, from destructors, or
/// from timers on a runtime that has none.
pub(super) async fn catch_panic<T>(future: impl Future<Output = T>) -> Result<T, String> {
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
