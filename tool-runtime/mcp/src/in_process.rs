//! A server in the process of its client.

use std::io;
use tokio::io::DuplexStream;
use tool_runtime_core::vocabulary::BoxFuture;

/// A server that its client reaches in memory, such as `McpServer`.
pub trait InProcessServer: Send + Sync + 'static {
    /// Serves one client until the stream ends.
    fn serve(&self, stream: DuplexStream) -> BoxFuture<'static, io::Result<()>>;
}
