//! Transports to a server.

mod custom;
#[cfg(feature = "http")]
mod http;
mod in_process;
mod lines;
mod outgoing;
mod stdio;

pub(super) use custom::Custom;
pub use custom::{McpReader, McpWriter};
#[cfg(feature = "http")]
pub use http::McpHeaderRequest;
#[cfg(feature = "oauth")]
pub(super) use http::OAuthCallbacks;
#[cfg(feature = "http")]
pub(super) use http::{HeaderSource, HeaderSources};
#[cfg(feature = "oauth")]
pub use http::{McpAuthPage, McpTokens};
pub(super) use in_process::InProcess;

use super::notification_router::NotificationRouter;
use super::observed_transport::ObservedTransport;
use super::refusal::Refusal;
use std::future::ready;
use std::sync::Arc;
use tool_runtime_config::{McpServerConfig, McpTransportConfig};
use tool_runtime_core::BoxFuture;

/// A way to a server: opens one connection after the other.
pub(super) trait TransportFactory: Send + Sync + 'static {
    fn open(
        &self,
        notifications: Arc<NotificationRouter>,
    ) -> BoxFuture<'_, Result<Opened, Refusal>>;

    /// Waits until nothing is left of any connection that it opened, also of those that were given
    /// up while they were being opened.
    fn left(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    /// Whether a person is asked to authorize this program.
    fn is_authorizing(&self) -> bool {
        false
    }

    /// Waits until they have answered, or says why they have not.
    fn authorized(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(std::future::pending())
    }

    /// Whether what is reached in this way is older than the newer era.
    fn is_old(&self) -> bool {
        false
    }

    /// Whether the server, which refused, may be reached in an older way. If so, the next
    /// connection is opened in that way.
    fn falls_back(&self) -> bool {
        false
    }
}

/// Callbacks of the host for configured servers.
#[derive(Clone, Default)]
pub(super) struct HostCallbacks {
    #[cfg(feature = "http")]
    pub(super) headers: HeaderSources,
    #[cfg(feature = "oauth")]
    pub(super) oauth: OAuthCallbacks,
}

/// The way that a configuration describes.
///
/// # Errors
/// This build has none, or the configuration cannot be acted on.
pub(super) fn way(
    server: &str,
    config: &McpServerConfig,
    callbacks: &HostCallbacks,
) -> Result<Box<dyn TransportFactory>, String> {
    match &config.transport {
        McpTransportConfig::Stdio(stdio) => {
            Ok(Box::new(stdio::Stdio::new(server, stdio, config.redactor())))
        }
        #[cfg(feature = "http")]
        McpTransportConfig::Http(config) => {
            Ok(Box::new(http::Http::new(server, config, callbacks)?))
        }
        #[cfg(not(feature = "http"))]
        McpTransportConfig::Http(_) => {
            let HostCallbacks {} = callbacks;
            Err("it is reached over HTTP, which this program is built without; turn on the feature `mcp-client-http` of `tool-runtime`".to_owned())
        }
        _ => Err("this version does not support its transport".to_owned()),
    }
}

/// A connection that nothing was said over yet.
pub(super) struct Opened {
    pub(super) wire: ObservedTransport,
    pub(super) behind: Option<Arc<dyn ConnectionOwner>>,
}

/// The owner of a connection, which outlives it: a process.
pub(super) trait ConnectionOwner: Send + Sync + 'static {
    /// Waits until it is gone, by itself or not.
    fn gone(&self) -> BoxFuture<'_, ()>;

    /// The exit of the process, if it has exited, and the last lines of its standard error. Waits a moment:
    /// the process often ends together with the connection.
    fn last_words(&self) -> BoxFuture<'_, Option<String>>;

    /// Ends it; bounded, and for every caller the same end.
    fn close(&self) -> BoxFuture<'_, ()>;

    /// Whether each request stands alone: one that was lost says nothing of the others, and what
    /// ends the connection ends it by itself.
    fn loses_single_requests(&self) -> bool {
        false
    }
}

#[cfg(all(test, not(feature = "http")))]
mod tests {
    use super::*;

    #[test]
    fn without_http_it_is_said_what_to_turn_on() {
        let config = McpServerConfig::http("https://example.com/mcp?key=8fQm2x");
        let problem = way("far", &config, &HostCallbacks::default()).err().unwrap();
        assert!(problem.contains("`mcp-client-http`") && !problem.contains("8fQm2x"), "{problem}");
    }
}
