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

use super::connect_error::ConnectError;
use super::notification_router::NotificationRouter;
use super::observed_transport::ObservedTransport;
use std::future::ready;
use std::sync::Arc;
use tool_runtime_config::{McpServerConfig, McpTransportConfig};
use tool_runtime_core::vocabulary::BoxFuture;

/// Opens connections to a server.
pub(super) trait TransportFactory: Send + Sync + 'static {
    fn open(
        &self,
        notifications: Arc<NotificationRouter>,
    ) -> BoxFuture<'_, Result<Opened, ConnectError>>;

    /// Waits until all closed or dropped connections have ended, including those that were dropped during `open`.
    fn ended(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    /// Whether the user is asked to authorize this program.
    fn is_authorizing(&self) -> bool {
        false
    }

    /// Waits for the user's answer.
    ///
    /// # Errors
    /// The user did not authorize this program; the error is the reason.
    fn authorized(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(std::future::pending())
    }

    /// Whether the transport is that of 2024-11-05, which has no `server/discover`.
    fn has_only_initialize(&self) -> bool {
        false
    }

    /// Whether a server that rejected the connection may support an older transport. If so, the next connection uses
    /// that transport.
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

/// The transport of a configuration.
///
/// # Errors
/// This build lacks the transport, or the configuration is invalid.
pub(super) fn factory(
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

/// An open connection, before the handshake.
pub(super) struct Opened {
    pub(super) transport: ObservedTransport,
    pub(super) owner: Option<Arc<dyn ConnectionOwner>>,
}

/// The owner of a connection, which outlives the connection: a process.
pub(super) trait ConnectionOwner: Send + Sync + 'static {
    /// Waits until the owner has ended.
    fn closed(&self) -> BoxFuture<'_, ()>;

    /// The exit of the process, if it has exited, and the last lines of its standard error. Waits a moment:
    /// the process often ends together with the connection.
    fn exit_report(&self) -> BoxFuture<'_, Option<String>>;

    /// Ends the owner, within a time limit. Further calls wait for the same end.
    fn close(&self) -> BoxFuture<'_, ()>;

    /// Whether requests are independent, as over HTTP: a lost request does not end the connection.
    fn loses_single_requests(&self) -> bool {
        false
    }
}

#[cfg(all(test, not(feature = "http")))]
mod tests {
    use super::*;

    #[test]
    fn without_the_feature_http_the_error_names_it() {
        let config = McpServerConfig::http("https://example.com/mcp?key=8fQm2x");
        let problem = factory("far", &config, &HostCallbacks::default()).err().unwrap();
        assert!(problem.contains("`mcp-client-http`") && !problem.contains("8fQm2x"), "{problem}");
    }
}
