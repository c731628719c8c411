//! What can be set about HTTP.

use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What can be set about serving over HTTP.
///
/// ```
/// use std::time::Duration;
/// use tool_runtime::{CancellationToken, HttpOptions};
///
/// let end = CancellationToken::new();
/// let options = HttpOptions::default()
///     .sessions(false)
///     .shutdown(end.clone(), Duration::from_secs(5));
/// ```
#[derive(Clone, Debug)]
pub struct HttpOptions {
    pub(super) sessions: bool,
    pub(super) shutdown: CancellationToken,
    pub(super) drain: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self { sessions: true, shutdown: CancellationToken::new(), drain: Duration::from_secs(10) }
    }
}

impl HttpOptions {
    /// Whether clients that `initialize` get a session, in which tools can ask them and
    /// notifications reach them. Default: true. Clients of 2026-07-28 never have one.
    #[must_use]
    pub fn sessions(mut self, sessions: bool) -> Self {
        self.sessions = sessions;
        self
    }

    /// The token that ends the server, and how long calls in flight may then go on. Default:
    /// nothing ends it, and 10 seconds.
    #[must_use]
    pub fn shutdown(mut self, token: CancellationToken, drain: Duration) -> Self {
        self.shutdown = token;
        self.drain = drain;
        self
    }
}
