//! Time limits of a request.

use super::failure::Failure;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Time limits of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestTimeouts {
    /// Limit on the time without progress.
    pub(super) idle: Duration,
    /// Deadline, regardless of progress.
    pub(super) until: Option<Instant>,
}

impl RequestTimeouts {
    /// The end, if no progress arrives after `last`.
    pub(super) fn end(self, last: Instant) -> Instant {
        // A year later: an `Instant` could overflow.
        let distant = || last + Duration::from_secs(86_400 * 365);
        let idle = last.checked_add(self.idle).unwrap_or_else(distant);
        self.until.map_or(idle, |until| idle.min(until))
    }

    /// Limits work outside the server, such as waiting for the user, only by the deadline.
    pub(super) async fn in_time<T>(self, work: impl Future<Output = T>) -> Result<T, Failure> {
        match self.until {
            Some(until) => timeout_at(until, work).await.map_err(|_| Failure::Late),
            None => Ok(work.await),
        }
    }

    /// The failure of a request that expires now.
    pub(super) fn failure(self) -> Failure {
        let is_late = self.until.is_some_and(|until| Instant::now() >= until);
        if is_late { Failure::Late } else { Failure::Silent(self.idle) }
    }
}
