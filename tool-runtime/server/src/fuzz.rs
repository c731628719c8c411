//! A server on any two descriptors, for the fuzz targets.

use super::McpServer;
#[cfg(feature = "http")]
pub use super::http::serve_http;
use super::stdio::StdioTransport;
pub use super::stdio::{LineOutcome, line_outcomes};
use std::io;
use std::os::fd::OwnedFd;
use tokio_util::sync::CancellationToken;

/// The server without threads, for a runtime whose clock is paused.
pub fn inline(mut server: McpServer) -> McpServer {
    server.handler.isolation = None;
    server
}

/// Serves until the input ends; see [`McpServer::serve_stdio`].
///
/// # Errors
/// The errors of [`McpServer::serve_stdio`].
pub async fn serve(server: McpServer, input: OwnedFd, output: OwnedFd) -> io::Result<()> {
    let transport = StdioTransport::from_descriptors(input, output)?;
    server.serve_on(transport, &CancellationToken::new()).await
}
