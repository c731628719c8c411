//! The request of a plain call, and how its client is reached without rmcp's context of a request.

use super::reply::Reply;
use axum::http::request::Parts;
use rmcp::model::{
    ClientCapabilities, Implementation, RequestId, RequestMetaObject, ServerNotification,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The request of a plain call. It has no session, so that its client cannot be asked while it
/// waits.
pub(in crate::mcp::server) struct PlainRequest {
    pub(in crate::mcp::server) id: RequestId,
    pub(in crate::mcp::server) meta: RequestMetaObject,
    pub(in crate::mcp::server) is_modern: bool,
    pub(in crate::mcp::server) parts: Parts,
    pub(in crate::mcp::server) token: CancellationToken,
    /// Sends messages before the answer.
    pub(super) messages: mpsc::Sender<Reply>,
}

impl PlainRequest {
    pub(in crate::mcp::server) fn client_info(&self) -> Option<Implementation> {
        self.meta.client_info()
    }

    pub(in crate::mcp::server) fn client_capabilities(&self) -> Option<ClientCapabilities> {
        self.meta.client_capabilities()
    }

    /// Sends a message before the answer. It is lost if the client has gone.
    pub(in crate::mcp::server) async fn tell(&self, message: ServerNotification) {
        drop(self.messages.send(Reply::notification(message)).await);
    }
}
