//! Ways to a server.

mod custom;
#[cfg(feature = "mcp-server")]
mod in_process;
mod stdio;

pub(super) use custom::Custom;
pub use custom::{McpReader, McpWriter};
#[cfg(feature = "mcp-server")]
pub(super) use in_process::InProcess;

use super::hearing::Hearing;
use super::refusal::Refusal;
use super::wire::Wire;
use crate::mcp::config::McpTransportConfig;
use crate::tool::BoxFuture;
use std::error::Error;
use std::fmt;
use std::future::ready;
use std::sync::Arc;

/// A way to a server: opens one connection after the other.
pub(super) trait Way: Send + Sync + 'static {
    fn open(&self, hearing: Arc<Hearing>) -> BoxFuture<'_, Result<Opened, Refusal>>;

    /// Waits until nothing is left of any connection that it opened, also of those that were given
    /// up while they were being opened.
    fn left(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }
}

/// The way that a configuration describes.
///
/// # Errors
/// This build has none.
pub(super) fn way(server: &str, config: &McpTransportConfig) -> Result<Box<dyn Way>, String> {
    match config {
        McpTransportConfig::Stdio(config) => Ok(Box::new(stdio::Stdio::new(server, config))),
        other => Err(format!("no way to {other:?}")),
    }
}

/// A connection that nothing was said over yet.
pub(super) struct Opened {
    pub(super) wire: Wire,
    pub(super) behind: Option<Arc<dyn Behind>>,
}

/// What stands behind a connection and does not end with it: a process.
pub(super) trait Behind: Send + Sync + 'static {
    /// Waits until it is gone, by itself or not.
    fn gone(&self) -> BoxFuture<'_, ()>;

    /// How it ended, if it has, and what it said last where nobody listens. Waits a moment: what
    /// ends the connection mostly ends the process as well.
    fn last_words(&self) -> BoxFuture<'_, Option<String>>;

    /// Ends it; bounded, and for every caller the same end.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// A server wants to know who asks: at the bottom of errors of transports.
#[derive(Debug)]
pub(super) struct Unauthorized(pub(super) String);

impl fmt::Display for Unauthorized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Unauthorized {}

/// Whether a server wants to know who asks.
pub(super) fn is_unauthorized(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    for _ in 0..16 {
        let Some(error) = next else { return false };
        if error.is::<Unauthorized>() {
            return true;
        }
        next = error.source();
    }
    false
}
