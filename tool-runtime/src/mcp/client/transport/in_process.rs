//! A server of this very process: another pool.

use super::lines::Lines;
use super::{Opened, Way};
use crate::mcp::McpServer;
use crate::mcp::client::hearing::Hearing;
use crate::mcp::client::refusal::Refusal;
use crate::mcp::client::wire::Wire;
use crate::tool::BoxFuture;
use std::future::ready;
use std::sync::Arc;

/// How many bytes wait between client and server.
const BUFFER: usize = 64 << 10;

/// A server of this very process. Every connection is served as one client's.
pub(in crate::mcp::client) struct InProcess(pub(in crate::mcp::client) McpServer);

impl Way for InProcess {
    fn open(&self, hearing: Arc<Hearing>) -> BoxFuture<'_, Result<Opened, Refusal>> {
        let (ours, theirs) = tokio::io::duplex(BUFFER);
        let served = self.0.clone().serve_in_memory(theirs, None);
        tokio::spawn(async move {
            if let Err(error) = served.await {
                tracing::warn!("a server of this process ended: {error}");
            }
        });
        let (reader, writer) = tokio::io::split(ours);
        let transport = Lines::new(reader, writer, Arc::clone(&hearing));
        Box::pin(ready(Ok(Opened { wire: Wire::new(transport, hearing), behind: None })))
    }
}
