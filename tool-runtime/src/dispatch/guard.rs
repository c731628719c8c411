//! Execution: a deadline, cancellation, and panics caught. Whatever happens, there is one
//! outcome.

use crate::context::ToolContext;
use crate::error::{CallError, ErrorClass, INTERNAL};
use crate::pool::ToolPool;
use crate::tool::Tool;
use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::{Duration, Instant};

/// How long a call may take.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    /// What is left from now on.
    left: Duration,
    /// What the limit says, for the message.
    given: Duration,
}

/// The shorter of the tool's limit, or else the pool's, and the caller's deadline.
pub(super) fn limit(pool: &ToolPool, tool: &Tool, context: &ToolContext) -> Option<Limit> {
    let given = tool.timeout().or(pool.timeout());
    let left =
        context.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()));
    let shortest = match (given, left) {
        (Some(given), Some(left)) => given.min(left),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => return None,
    };
    Some(Limit { left: shortest, given: shortest })
}

/// Runs a call to its one outcome.
pub(super) async fn guarded<F: Future>(
    call: F,
    tool: &str,
    limit: Option<Limit>,
    context: &ToolContext,
) -> Result<F::Output, CallError> {
    let call = AssertUnwindSafe(call).catch_unwind();
    let outcome = match (limit, context.cancellation()) {
        (None, None) => call.await,
        _ => bounded(call, tool, limit, context).await?,
    };
    outcome.map_err(|panic| panicked(tool, &*panic))
}

async fn bounded<F: Future>(
    call: F,
    tool: &str,
    limit: Option<Limit>,
    context: &ToolContext,
) -> Result<F::Output, CallError> {
    let expiry = async {
        match limit {
            Some(limit) => tokio::time::sleep(limit.left).await,
            None => std::future::pending().await,
        }
    };
    let (stop, call, expiry) = (pin!(context.cancelled()), pin!(call), pin!(expiry));
    match select(stop, select(call, expiry)).await {
        Either::Left(((), _)) => Err(cancelled(tool)),
        Either::Right((Either::Left((output, _)), _)) => Ok(output),
        Either::Right((Either::Right(((), _)), _)) => Err(expired(tool, limit)),
    }
}

fn cancelled(tool: &str) -> CallError {
    CallError::new(ErrorClass::Cancelled, format!("the call to `{tool}` was cancelled"))
}

fn expired(tool: &str, limit: Option<Limit>) -> CallError {
    let given = limit.map(|limit| limit.given).unwrap_or_default();
    CallError::new(
        ErrorClass::Timeout,
        format!("`{tool}` did not answer within {given:?}; ask for less, or try again"),
    )
}

/// The model learns that the tool failed; what the panic said is the operator's business.
fn panicked(tool: &str, panic: &(dyn Any + Send)) -> CallError {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned());
    CallError::new(ErrorClass::Internal, format!("`{tool}`: {INTERNAL}"))
        .with_detail(format!("panicked: {text}"))
}
