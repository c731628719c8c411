//! Limits on the number of calls.

use super::call_view::CallView;
use std::fmt;
use std::time::Duration;

/// Enforces limits on calls: rates and budgets.
///
/// A pool reserves each call that may run, after the last question about it was answered. The
/// reservation is refunded if the call does not start after all: cancelled while it waits, refused by
/// a recorder.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use tool_runtime::govern::{CallView, Limit, LimitExceeded, Limiter, Reservation};
///
/// struct Budget(Arc<AtomicU32>);
///
/// impl Limiter for Budget {
///     fn reserve(&self, _: &CallView<'_>, _: &[Limit]) -> Result<Reservation, LimitExceeded> {
///         let left = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(1));
///         left.map_err(|_| LimitExceeded::new("the budget of this run is used up"))?;
///         let budget = Arc::clone(&self.0);
///         Ok(Reservation::new(move || {
///             budget.fetch_add(1, Ordering::AcqRel);
///         }))
///     }
/// }
/// ```
pub trait Limiter: Send + Sync + 'static {
    /// Counts a call: against the limits that policies put on it, and against those of the limiter
    /// itself. All or nothing. A panic denies the call.
    ///
    /// # Errors
    /// A limit is exceeded.
    fn reserve(&self, call: &CallView<'_>, limits: &[Limit]) -> Result<Reservation, LimitExceeded>;
}

/// A limit that a policy puts on a call.
///
/// ```
/// use std::time::Duration;
/// use tool_runtime::govern::{Limit, Measure, Refill};
///
/// let mails = Limit::rate("mail/ada", 10, Duration::from_secs(60));
/// assert_eq!(mails.refill, Refill::Window(Duration::from_secs(60)));
/// let tokens = Limit::budget("run-7", 100_000).for_measure(Measure::Tokens);
/// assert_eq!(tokens.refill, Refill::Never);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Limit {
    /// Identifies the counter: calls with equal keys share it. Put into it what each share is for, as
    /// in `mail/ada`.
    pub key: String,
    /// The amount that calls may use up, in the unit of the measure.
    pub amount: u64,
    /// The unit that is counted.
    pub measure: Measure,
    /// The period after which used amounts are free again.
    pub refill: Refill,
    /// Whether the counter ends with the session of the call. Such a counter is not stored: sessions are those of one
    /// process.
    pub ends_with_session: bool,
}

/// A quantity that a [`Limit`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Measure {
    /// Calls whose tool starts.
    #[default]
    Calls,
    /// Milliseconds that tools run.
    Milliseconds,
    /// Estimated tokens of arguments and results.
    Tokens,
    /// Millionths of a unit of money.
    Micros,
}

/// The way in which a [`Limit`] becomes free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refill {
    /// Never: a budget.
    Never,
    /// Each use counts for this time: a sliding window.
    Window(Duration),
    /// The whole amount refills evenly in this time: a token bucket.
    Steady(Duration),
}

impl Limit {
    /// A number of calls in a window of time.
    pub fn rate(key: impl Into<String>, calls: u64, window: Duration) -> Self {
        let (measure, refill) = (Measure::Calls, Refill::Window(window));
        Self { key: key.into(), amount: calls, measure, refill, ends_with_session: false }
    }

    /// A number of calls at once, which refill evenly in a time.
    pub fn bucket(key: impl Into<String>, calls: u64, time: Duration) -> Self {
        let (measure, refill) = (Measure::Calls, Refill::Steady(time));
        Self { key: key.into(), amount: calls, measure, refill, ends_with_session: false }
    }

    /// A number of calls altogether.
    pub fn budget(key: impl Into<String>, calls: u64) -> Self {
        let (measure, refill) = (Measure::Calls, Refill::Never);
        Self { key: key.into(), amount: calls, measure, refill, ends_with_session: false }
    }

    /// Sets what is counted. Default: calls.
    #[must_use]
    pub fn for_measure(mut self, measure: Measure) -> Self {
        self.measure = measure;
        self
    }

    /// Lets the counter end with the session of the call. Default: it stays.
    #[must_use]
    pub fn ending_with_session(mut self) -> Self {
        self.ends_with_session = true;
        self
    }
}

/// The reserved part of the limits of one call. Dropping it refunds the call, unless the call has
/// started.
#[must_use = "dropping a reservation refunds it"]
pub struct Reservation(Option<Box<dyn FnOnce() + Send>>);

impl Reservation {
    /// A reservation that this closure refunds.
    pub fn new(refund: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(refund)))
    }

    /// A reservation of nothing: no limit applies.
    pub fn none() -> Self {
        Self(None)
    }

    /// The call starts, so that it counts.
    pub(super) fn commit(mut self) {
        self.0 = None;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(refund) = self.0.take() {
            refund();
        }
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation").field("is_refundable", &self.0.is_some()).finish()
    }
}

/// The error of a call that exceeds a limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}{}", .retry_after.map(|after| format!("; try again in {after:?}")).unwrap_or_default())]
pub struct LimitExceeded {
    reason: String,
    retry_after: Option<Duration>,
}

impl LimitExceeded {
    /// A reason that the model reads.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), retry_after: None }
    }

    /// Sets the time after which a call has room again. Default: unknown.
    #[must_use]
    pub fn with_retry_after(mut self, after: Duration) -> Self {
        self.retry_after = Some(after);
        self
    }

    /// The time after which a call has room again.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}
