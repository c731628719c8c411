//! Whether a call is over: answered, or taken back.

use rmcp::model::RequestId;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;

/// A call of the fast path, as those see it who answer it or take it back.
pub(super) struct CallState {
    pub(super) id: RequestId,
    /// Cancels the call.
    pub(super) token: CancellationToken,
    is_over: AtomicBool,
    /// Cancelled when it is over, if anybody waits for that.
    over: OnceLock<CancellationToken>,
}

impl CallState {
    pub(super) fn new(id: RequestId) -> Self {
        let token = CancellationToken::new();
        Self { id, token, is_over: AtomicBool::new(false), over: OnceLock::new() }
    }

    /// The client takes the call back.
    pub(super) fn cancel(&self) {
        self.finish();
        self.token.cancel();
    }

    /// Ends the call. Whether that may be answered: it is over once.
    pub(super) fn finish(&self) -> bool {
        let is_first = !self.is_over.swap(true, Ordering::SeqCst);
        if is_first && let Some(over) = self.over.get() {
            over.cancel();
        }
        is_first
    }

    /// Cancelled when the call is over. `None` if it is, or if somebody has asked before.
    pub(super) fn over(&self) -> Option<CancellationToken> {
        let over = CancellationToken::new();
        let is_first = self.over.set(over.clone()).is_ok();
        (is_first && !self.is_over.load(Ordering::SeqCst)).then_some(over)
    }
}
