//! A transport of the host: lines of JSON over streams that it opens.

use super::lines::Lines;
use super::{Opened, TransportFactory};
use crate::connect_error::{ConnectError, Kind};
use crate::notification_router::NotificationRouter;
use crate::observed_transport::ObservedTransport;
use std::error::Error;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tool_runtime_core::vocabulary::BoxFuture;

/// The source of a server's messages: a line of JSON each.
pub type McpReader = Box<dyn AsyncRead + Send + Unpin>;
/// The sink of messages to a server: a line of JSON each.
pub type McpWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// Opens a connection, each time that it is called.
type Open = dyn Fn() -> BoxFuture<'static, Result<(McpReader, McpWriter), Box<dyn Error + Send + Sync>>>
    + Send
    + Sync;

/// A transport of the host.
pub(crate) struct Custom(Box<Open>);

impl Custom {
    pub(crate) fn new<F, O>(open: O) -> Self
    where
        O: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = Result<(McpReader, McpWriter), Box<dyn Error + Send + Sync>>>
            + Send
            + 'static,
    {
        Self(Box::new(move || Box::pin(open())))
    }
}

impl TransportFactory for Custom {
    fn open(
        &self,
        notifications: Arc<NotificationRouter>,
    ) -> BoxFuture<'_, Result<Opened, ConnectError>> {
        Box::pin(async move {
            let (reader, writer) = (self.0)()
                .await
                .map_err(|error| ConnectError::new(Kind::Unreachable, error.to_string()))?;
            let transport = Lines::new(reader, writer, Arc::clone(&notifications));
            Ok(Opened { transport: ObservedTransport::new(transport, notifications), owner: None })
        })
    }
}
