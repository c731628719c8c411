//! Runs user code with a time limit, and catches its panics.

use super::{Hook, Running};
use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass, ToolError, caught, panic_message};
use futures_util::FutureExt as _;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::timeout;

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

impl Failure {
    fn of(error: ToolError) -> Self {
        Self::Failed(error_text(error))
    }
}

/// A hook that was polled once.
pub(super) enum Started<T> {
    Answered(Result<T, Failure>),
    Waiting(Running<T>),
}

/// Starts a hook and polls it: most hooks answer at once.
pub(super) fn start_hook<T: Send + 'static>(
    hook: &Arc<Hook>,
    context: &ToolContext,
    start: impl FnOnce(&Hook) -> Running<T> + Send + 'static,
    waker: &mut Context<'_>,
) -> Started<T> {
    // All code that may panic: the closure, the `Display` of an error, destructors.
    let started = caught(|| {
        let mut run = match context.runs_apart() {
            false => start(hook),
            true => {
                let own = Arc::clone(hook);
                context.apart(|| hook.title(), move || start(&own))
            }
        };
        match run.poll_unpin(waker) {
            Poll::Ready(answer) => Started::Answered(answer.map_err(Failure::of)),
            Poll::Pending => Started::Waiting(run),
        }
    });
    started.unwrap_or_else(|panic| Started::Answered(Err(Failure::Panicked(panic))))
}

/// The answer of a hook that was started, within its time limit.
pub(super) async fn finish_hook<T>(hook: &Hook, started: Started<T>) -> Result<T, Failure> {
    let run = match started {
        Started::Answered(answer) => return answer,
        Started::Waiting(run) => run,
    };
    // All code that may panic: as above, and the timer.
    let answer = Box::pin(async move {
        match timeout(hook.timeout, run).await {
            Ok(answer) => answer.map_err(Failure::of),
            Err(_) => Err(Failure::TimedOut(hook.timeout)),
        }
    });
    catch_panic(answer).await.unwrap_or_else(|panic| Err(Failure::Panicked(panic)))
}

/// Runs a hook within its time limit.
pub(super) async fn run_hook<T: Send + 'static>(
    hook: &Arc<Hook>,
    context: &ToolContext,
    start: impl FnOnce(&Hook) -> Running<T> + Send + 'static,
) -> Result<T, Failure> {
    let mut start = Some(start);
    let started = poll_fn(|waker| {
        let start = start.take().expect("polled once");
        Poll::Ready(start_hook(hook, context, start, waker))
    });
    let started = started.await;
    finish_hook(hook, started).await
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
