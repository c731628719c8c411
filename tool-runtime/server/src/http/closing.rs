//! The two ends of a server: nothing new begins, and nothing goes on.

use tokio_util::sync::CancellationToken;

/// The two ends of a server.
#[derive(Clone)]
pub(super) struct Closing {
    /// Nothing new is begun.
    pub(super) begun: CancellationToken,
    /// What still runs is ended.
    pub(super) over: CancellationToken,
}

impl Closing {
    pub(super) fn new(begun: CancellationToken) -> Self {
        Self { begun, over: CancellationToken::new() }
    }
}
