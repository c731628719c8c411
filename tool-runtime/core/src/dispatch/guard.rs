//! Deadline, cancellation and panics: every call has exactly one outcome.

use super::closed_pool;
use super::report;
use crate::pool::ToolPool;
use crate::tool::context::ToolContext;
use crate::tool::tool::Tool;
use crate::tool::toolset::Instance;
use crate::vocabulary::error::{CallError, ErrorClass, INTERNAL, panic_message};
use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use std::any::Any;
use std::borrow::Cow;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

/// The time that a tool of another process has beyond its limit, which it keeps itself.
const GRACE: Duration = Duration::from_millis(100);

/// The shorter of the tool's limit (or else the pool's) and the time until the caller's
/// deadline.
pub(super) fn limit(pool: &ToolPool, tool: &Tool, context: &ToolContext) -> Option<Duration> {
    let own = || tool.timeout().or(pool.governance().timeout);
    limit_of(if tool.enforces_timeout() { None } else { own() }, context)
}

/// Whether a call has neither a time limit nor a cancellation token, as most calls outside a server.
pub(super) fn is_unbounded(pool: &ToolPool, tool: &Tool, context: &ToolContext) -> bool {
    limit(pool, tool, context).is_none() && context.cancellation().is_none()
}

/// The limit of a call, and the context in which the tool can see its deadline.
pub(super) fn bounds<'a>(
    pool: &ToolPool,
    tool: &Tool,
    context: Cow<'a, ToolContext>,
) -> (Option<Duration>, Cow<'a, ToolContext>) {
    bounds_within(None, pool, tool, context)
}

/// The bounds of a call that may have a time limit of its own.
pub(super) fn bounds_within<'a>(
    own: Option<Duration>,
    pool: &ToolPool,
    tool: &Tool,
    context: Cow<'a, ToolContext>,
) -> (Option<Duration>, Cow<'a, ToolContext>) {
    match own.into_iter().chain(limit(pool, tool, &context)).min() {
        // A tool of another process finds out which outcome was decided in time.
        Some(limit) if tool.resumes() => (Some(limit + GRACE), Cow::Owned(within(limit, &context))),
        Some(limit) => (Some(limit), Cow::Owned(within(limit, &context))),
        None => (None, context),
    }
}

/// The shorter of a limit and the time until the caller's deadline.
pub(super) fn limit_of(given: Option<Duration>, context: &ToolContext) -> Option<Duration> {
    match (given, remaining(context)) {
        (Some(given), Some(left)) => Some(given.min(left)),
        (only, None) | (None, only) => only,
    }
}

/// The time left until the caller's deadline.
fn remaining(context: &ToolContext) -> Option<Duration> {
    context.deadline().map(|deadline| deadline.saturating_duration_since(now()))
}

/// Tokio's clock, which tests can advance.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// The context in which the tool can see its deadline.
pub(super) fn within(limit: Duration, context: &ToolContext) -> ToolContext {
    match now().checked_add(limit) {
        Some(deadline) => context.clone().with_deadline(deadline),
        None => context.clone(),
    }
}

/// Runs a call within its limit, unless it is cancelled. The call must not begin before it is polled.
pub(super) async fn guarded<F: Future + Unpin>(
    call: F,
    tool: &str,
    limit: Option<Duration>,
    context: &ToolContext,
) -> Result<F::Output, CallError> {
    match (limit, context.cancellation()) {
        (None, None) => Ok(call.await),
        (Some(limit), _) if limit.is_zero() => Err(expired(tool, Some(limit))),
        // Boxed: few calls are bounded, and the timer would make every call's future larger.
        _ => Box::pin(bounded(call, tool, limit, context)).await,
    }
}

impl ToolPool {
    /// Waits until a call must be answered although its tool still blocks its thread: until its
    /// limit has passed or its context is cancelled.
    #[doc(hidden)]
    pub async fn expiry(&self, tool: &str, begun: Instant, context: &ToolContext) -> CallError {
        let limit = self.resolve(tool).ok().and_then(|tool| limit(self, &tool, context));
        let left = limit.map(|limit| limit.saturating_sub(now().saturating_duration_since(begun)));
        let error = match bounded(std::future::pending::<()>(), tool, left, context).await {
            Err(error) if error.class() == ErrorClass::Cancelled => error,
            _ => expired(tool, limit),
        };
        report::failure(tool, &error);
        error
    }
}

/// Whether the caller still waits.
pub(super) fn check_time(tool: &str, context: &ToolContext) -> Result<(), CallError> {
    match (remaining(context), context.cancellation()) {
        (Some(left), _) if left.is_zero() => Err(expired(tool, Some(left))),
        (_, Some(token)) if token.is_cancelled() => Err(cancelled(tool, context)),
        _ => Ok(()),
    }
}

/// Waits for a hook, the user or a resource, until the caller's deadline or cancellation.
pub(super) async fn waiting<T>(
    work: impl Future<Output = Result<T, CallError>> + Unpin,
    tool: &str,
    context: &ToolContext,
) -> Result<T, CallError> {
    guarded(work, tool, remaining(context), context).await?
}

/// Ends work when the pool or the toolset value it runs on is closed.
pub(super) async fn while_open<T>(
    pool: &ToolPool,
    instance: Option<&Instance>,
    work: impl Future<Output = Result<T, CallError>> + Unpin,
) -> Result<T, CallError> {
    check_open(pool, instance)?;
    let token = instance.map_or_else(|| pool.closing(), Instance::ending);
    until_cancelled(token, work, || Err(closed_pool())).await
}

/// Whether the pool, or the toolset value that the call runs on, is open.
pub(super) fn check_open(pool: &ToolPool, instance: Option<&Instance>) -> Result<(), CallError> {
    // A toolset gives its calls time to end.
    let is_ended = match instance {
        Some(instance) => instance.ending().is_cancelled(),
        None => pool.is_closing(),
    };
    if is_ended { Err(closed_pool()) } else { Ok(()) }
}

/// Runs work until a token is cancelled, and returns `otherwise` then. The token, which is not
/// cancelled yet, is polled only once the work is pending: most work ends at its first poll, and a
/// waiter costs more than a small call.
fn until_cancelled<T>(
    token: &CancellationToken,
    mut work: impl Future<Output = T> + Unpin,
    otherwise: impl Fn() -> T,
) -> impl Future<Output = T> {
    let mut cancelled = None::<Pin<Box<WaitForCancellationFuture<'_>>>>;
    poll_fn(move |context| {
        if let Some(cancelled) = &mut cancelled
            && cancelled.poll_unpin(context).is_ready()
        {
            return Poll::Ready(otherwise());
        }
        let polled = work.poll_unpin(context);
        if polled.is_pending() && cancelled.is_none() {
            let cancelled = cancelled.insert(Box::pin(token.cancelled()));
            return cancelled.poll_unpin(context).map(|()| otherwise());
        }
        polled
    })
}

/// Turns a panic into an error: of the tool, of a destructor, of a runtime without timers.
pub(super) async fn catch_panics<T>(
    tool: &str,
    stages: impl Future<Output = Result<T, CallError>>,
) -> Result<T, CallError> {
    flatten_panic(tool, AssertUnwindSafe(stages).catch_unwind().await)
}

/// Turns a panic into an error, and logs the failure of a call.
pub(super) async fn catch_and_report<T>(
    tool: &str,
    stages: impl Future<Output = Result<T, CallError>>,
) -> Result<T, CallError> {
    let outcome = flatten_panic(tool, AssertUnwindSafe(stages).catch_unwind().await);
    if let Err(error) = &outcome {
        report::failure(tool, error);
    }
    outcome
}

fn flatten_panic<T>(
    tool: &str,
    ended: std::thread::Result<Result<T, CallError>>,
) -> Result<T, CallError> {
    ended.unwrap_or_else(|panic| Err(panicked(tool, panic)))
}

async fn bounded<F: Future>(
    call: F,
    tool: &str,
    limit: Option<Duration>,
    context: &ToolContext,
) -> Result<F::Output, CallError> {
    let timed = async {
        match limit {
            None => Ok(call.await),
            // The timer is created when the call is first pending.
            Some(time) => match select(pin!(call), pin!(async { sleep(time).await })).await {
                Either::Left((output, _)) => Ok(output),
                Either::Right(((), _)) => Err(expired(tool, limit)),
            },
        }
    };
    match context.cancellation() {
        None => timed.await,
        Some(token) if token.is_cancelled() => Err(cancelled(tool, context)),
        Some(token) => until_cancelled(token, pin!(timed), || Err(cancelled(tool, context))).await,
    }
}

fn cancelled(tool: &str, context: &ToolContext) -> CallError {
    let why = match context.is_stopping() {
        true => "the server stops",
        false => "the caller cancelled the call or went away",
    };
    CallError::new(ErrorClass::Cancelled, format!("the call to `{tool}` was cancelled"))
        .with_detail(why)
}

fn expired(tool: &str, limit: Option<Duration>) -> CallError {
    let text = match limit.filter(|given| !given.is_zero()) {
        Some(given) => {
            format!("`{tool}` did not answer within {given:?}; ask for less, or try again")
        }
        None => format!("the time was up before `{tool}` could run; try again"),
    };
    CallError::new(ErrorClass::Timeout, text)
}

/// The model receives the fact of the failure; the panic message is for the operator.
#[cold]
fn panicked(tool: &str, panic: Box<dyn Any + Send>) -> CallError {
    let text = panic_message(panic);
    CallError::new(ErrorClass::Internal, format!("`{tool}`: {INTERNAL}"))
        .with_detail(format!("panicked: {text}"))
}
