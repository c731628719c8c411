//! The deadline and the cancellation of a call.

use super::ToolContext;
use std::future;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

impl ToolContext {
    /// Sets the token that cancels the call. Default: nothing cancels it.
    #[must_use]
    pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
        self.parts().cancellation = Some(token);
        self
    }

    /// Sets when the call ends at the latest. Default: never.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.parts().deadline = Some(deadline);
        self
    }

    /// The deadline of the call.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline
    }

    /// Whether the call has ended: cancelled, timed out, or abandoned by its caller. For plain
    /// functions on the blocking pool, which cannot be stopped from outside.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancellation.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    /// Waits until the call is cancelled; never returns if it cannot be.
    ///
    /// An `async` tool need not watch this: it is dropped when the call is cancelled.
    pub async fn cancelled(&self) {
        match &self.0.cancellation {
            Some(token) => token.cancelled().await,
            None => future::pending().await,
        }
    }

    /// Sets the token that is cancelled when the server stops: the call may still end, and waits for people no longer.
    #[doc(hidden)]
    #[must_use]
    pub fn with_stop(mut self, token: CancellationToken) -> Self {
        self.parts().stop = Some(token);
        self
    }

    /// The token that is cancelled when the server stops.
    pub(crate) fn stop(&self) -> Option<&CancellationToken> {
        self.0.stop.as_ref()
    }

    /// Whether the server stops.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop().is_some_and(CancellationToken::is_cancelled)
    }

    pub(crate) fn cancellation(&self) -> Option<&CancellationToken> {
        self.0.cancellation.as_ref()
    }
}
