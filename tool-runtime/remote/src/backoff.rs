//! Trying again while a board is away.

use crate::board::BoardError;
use std::time::Duration;
use tokio::time::sleep;

/// The first and the longest pause. A roll call waits longer.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Pauses that grow.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    /// The reason that was logged last.
    reason: String,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: PAUSES.0, reason: String::new() }
    }
}

impl Backoff {
    /// Logs a reason, once, and waits before the next attempt.
    pub(crate) async fn pause(&mut self, what: &str, error: &BoardError) {
        self.log(what, error);
        self.wait().await;
    }

    /// Logs a reason, once.
    pub(crate) fn log(&mut self, what: &str, error: &BoardError) {
        let reason = error.to_string();
        if self.reason != reason {
            tracing::warn!("{what}: {reason}; trying again");
            self.reason = reason;
        }
    }

    /// Waits before the next attempt.
    pub(crate) async fn wait(&mut self) {
        sleep(self.next).await;
        self.next = (self.next * 2).min(PAUSES.1);
    }
}

/// Repeats a request until the board is there.
///
/// # Errors
/// An error that trying again does not help.
pub(crate) async fn persist<T, F>(
    what: &str,
    mut request: impl FnMut() -> F,
) -> Result<T, BoardError>
where
    F: Future<Output = Result<T, BoardError>>,
{
    let mut backoff = Backoff::default();
    loop {
        match request().await {
            Err(error) if error.is_transient() => backoff.pause(what, &error).await,
            other => return other,
        }
    }
}
