//! A pool as an MCP server.

mod convert;
#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod handler;
#[cfg(feature = "http")]
mod http;
mod stdio;

#[cfg(all(feature = "http", feature = "cli"))]
pub(crate) use http::serve as serve_http;
#[cfg(feature = "http")]
pub use http::{AuthRefusal, Authenticate, BearerTokens, HttpOptions, TokensError};

use crate::pool::ToolPool;
use handler::PoolHandler;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use std::io;
use std::pin::Pin;
use stdio::StdioTransport;

/// How many bytes one message may have.
const LINE_LIMIT: usize = 16 << 20;

/// A pool of tools as an MCP server.
///
/// It speaks both lifecycles: `initialize` (2024-11-05 to 2025-11-25) and the stateless one
/// of 2026-07-28 with `server/discover`. A wrong argument is a result with `isError`, which
/// the model can correct; an unknown tool is a protocol error, as the specification says.
///
/// Limits: tools only, no prompts or resources; over stdio, and over HTTP with the feature `http`.
///
/// ```no_run
/// use tool_runtime::McpServer;
/// use tool_runtime::prelude::*;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let pool = ToolPool::builder().linked().build()?;
/// McpServer::new(pool, "notes", "1.2.0").serve_stdio().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct McpServer {
    handler: PoolHandler,
    line_limit: usize,
}

impl McpServer {
    /// A server with the name and version that clients are told.
    pub fn new(pool: ToolPool, name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            handler: PoolHandler::new(pool, name.into(), version.into()),
            line_limit: LINE_LIMIT,
        }
    }

    /// Sets a title for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.handler.set_title(title.into());
        self
    }

    /// Tells models how to use the tools together.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.handler.set_instructions(instructions.into());
        self
    }

    /// Sets how many bytes one message may have on stdio. Default: 16 MiB. A longer one is
    /// answered with an error and not kept in memory.
    #[must_use]
    pub fn with_line_limit(mut self, bytes: usize) -> Self {
        self.line_limit = bytes;
        self
    }

    /// Serves on standard input and output until the input ends.
    ///
    /// From here on the process's standard output is its standard error, so that nothing a
    /// tool prints can spoil the protocol.
    ///
    /// # Errors
    /// If the standard streams cannot be used.
    ///
    /// # Panics
    /// Outside a tokio runtime with its I/O and time drivers.
    pub async fn serve_stdio(self) -> io::Result<()> {
        self.boxed().await
    }

    /// A future that can be named is compiled once more wherever it is awaited: rmcp's whole
    /// service loop, in every user's crate.
    fn boxed(self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> {
        Box::pin(self.serve_on_stdio())
    }

    async fn serve_on_stdio(self) -> io::Result<()> {
        let transport = StdioTransport::take()?.with_line_limit(self.line_limit);
        tracing::info!("serving MCP on stdio");
        self.served_on(transport).await
    }

    async fn served_on(self, transport: StdioTransport) -> io::Result<()> {
        let outbox = transport.outbox();
        let served = self.served(transport).await;
        // A peer that reads no more is no failure of ours.
        drop(outbox.emptied().await);
        served
    }

    /// The handler is erased for the same reason: rmcp's loop answers requests in two places, and
    /// the future of a request is its largest.
    async fn served(self, transport: StdioTransport) -> io::Result<()> {
        match self.handler.into_dyn().serve(transport).await {
            Ok(running) => {
                let reason = running.waiting().await.map_err(io::Error::other)?;
                tracing::info!(?reason, "the client is gone");
                Ok(())
            }
            // A client that leaves before it said anything is no failure of ours.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}
