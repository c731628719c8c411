//! A server of this very process: another pool.

use super::lines::Lines;
use super::{Opened, Way};
use crate::hearing::Hearing;
use crate::refusal::Refusal;
use crate::wire::Wire;
use std::future::ready;
use std::sync::Arc;
use tool_runtime_core::BoxFuture;
use tool_runtime_mcp::InProcessServer;

/// How many bytes wait between client and server.
const BUFFER: usize = 64 << 10;

/// A server of this very process. Every connection is served as one client's.
pub(crate) struct InProcess(pub(crate) Box<dyn InProcessServer>);

impl Way for InProcess {
    fn open(&self, hearing: Arc<Hearing>) -> BoxFuture<'_, Result<Opened, Refusal>> {
        let (ours, theirs) = tokio::io::duplex(BUFFER);
        let served = self.0.serve(theirs);
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
