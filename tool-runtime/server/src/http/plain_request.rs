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
pub(crate) struct PlainRequest {
    pub(crate) id: RequestId,
    pub(crate) meta: RequestMetaObject,
    pub(crate) is_modern: bool,
    pub(crate) parts: Parts,
    pub(crate) token: CancellationToken,
    /// Sends messages before the answer.
    pub(super) messages: mpsc::Sender<Reply>,
}

impl PlainRequest {
    pub(crate) fn client_info(&self) -> Option<Implementation> {
        self.meta.client_info()
    }

    pub(crate) fn client_capabilities(&self) -> Option<ClientCapabilities> {
        self.meta.client_capabilities()
    }

    /// Sends a message before the answer. It is lost if the client has gone.
    pub(crate) async fn tell(&self, message: ServerNotification) {
        drop(self.messages.send(Reply::notification(message)).await);
    }
}
