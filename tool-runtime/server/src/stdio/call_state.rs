//! Makes sure that a call is answered or cancelled only once.

use rmcp::model::RequestId;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;

/// The state of a call on the fast path, shared by the tasks that may answer or cancel it.
pub(super) struct CallState {
    pub(super) id: RequestId,
    /// Cancels the call.
    pub(super) token: CancellationToken,
    is_over: AtomicBool,
    /// Cancelled when the call has ended; set by [`Self::token`].
    over: OnceLock<CancellationToken>,
}

impl CallState {
    pub(super) fn new(id: RequestId) -> Self {
        let token = CancellationToken::new();
        Self { id, token, is_over: AtomicBool::new(false), over: OnceLock::new() }
    }

    /// Cancels the call for its client.
    pub(super) fn cancel(&self) {
        self.finish();
        self.token.cancel();
    }

    /// Ends the call. Returns whether it was running, and may be answered.
    pub(super) fn finish(&self) -> bool {
        let is_first = !self.is_over.swap(true, Ordering::SeqCst);
        if is_first && let Some(over) = self.over.get() {
            over.cancel();
        }
        is_first
    }

    /// A token that is cancelled when the call ends. `None` if it has ended, or on a second call of this function.
    pub(super) fn token(&self) -> Option<CancellationToken> {
        let over = CancellationToken::new();
        let is_first = self.over.set(over.clone()).is_ok();
        (is_first && !self.is_over.load(Ordering::SeqCst)).then_some(over)
    }
}
