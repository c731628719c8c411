//! The streamable HTTP transport.

use super::client::Client;
use super::error::TransportError;
use super::sse_backoff::ReconnectPolicy;
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use std::sync::Arc;

/// Limit on requests that wait for the response headers.
const MAX_AT_ONCE: usize = 256;

/// A connection over HTTP, which lasts until the server is unreachable or has ended the session.
pub(super) struct Streamable {
    transport: StreamableHttpClientTransport<Client>,
    client: Client,
}

impl Streamable {
    pub(super) fn new(client: Client) -> Self {
        let mut config = StreamableHttpClientTransportConfig::with_uri(client.url())
            .max_concurrent_requests(MAX_AT_ONCE);
        config.retry_config = Arc::new(ReconnectPolicy::default());
        // An expired session ends the connection. The next one lists the tools again.
        config.reinit_on_expired_session = false;
        let transport = StreamableHttpClientTransport::with_client(client.clone(), config);
        Self { transport, client }
    }
}

impl Transport<RoleClient> for Streamable {
    type Error = TransportError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), TransportError>> + Send + 'static {
        let sent = self.transport.send(message);
        let client = self.client.clone();
        async move { sent.await.map_err(|error| client.transport_error(error)) }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        tokio::select! {
            biased;
            message = self.transport.receive() => message,
            () = self.client.connection_lost() => None,
        }
    }

    async fn close(&mut self) -> Result<(), TransportError> {
        self.transport.close().await.map_err(|error| self.client.transport_error(error))
    }
}
