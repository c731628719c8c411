//! The transport to a server of this process.

use super::lines::Lines;
use super::{Opened, TransportFactory};
use crate::connect_error::ConnectError;
use crate::notification_router::NotificationRouter;
use crate::observed_transport::ObservedTransport;
use std::future::ready;
use std::sync::Arc;
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_mcp::InProcessServer;

/// Buffer between client and server, in bytes.
const BUFFER: usize = 64 << 10;

/// A server of this process. Each connection is a client of it.
pub(crate) struct InProcess(pub(crate) Box<dyn InProcessServer>);

impl TransportFactory for InProcess {
    fn open(
        &self,
        notifications: Arc<NotificationRouter>,
    ) -> BoxFuture<'_, Result<Opened, ConnectError>> {
        let (ours, theirs) = tokio::io::duplex(BUFFER);
        let served = self.0.serve(theirs);
        tokio::spawn(async move {
            if let Err(error) = served.await {
                tracing::warn!("a server of this process ended: {error}");
            }
        });
        let (reader, writer) = tokio::io::split(ours);
        let transport = Lines::new(reader, writer, Arc::clone(&notifications));
        Box::pin(ready(Ok(Opened {
            transport: ObservedTransport::new(transport, notifications),
            owner: None,
        })))
    }
}
