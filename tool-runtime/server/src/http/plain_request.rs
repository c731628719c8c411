//! The request of a call on the fast path over HTTP.

use super::reply::Reply;
use crate::arguments::RawArguments;
use crate::fast_path::Meta;
use crate::request::Request;
use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{RequestId, RequestMetaObject, ServerNotification};
use rmcp::service::Peer;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::{BoxFuture, Principal};

/// A request without a session, so that its client cannot be asked while it waits.
pub(super) struct PlainRequest {
    pub(super) id: RequestId,
    pub(super) meta: Meta,
    pub(super) is_modern: bool,
    pub(super) parts: Parts,
    pub(super) token: CancellationToken,
    /// Sends messages before the answer.
    pub(super) messages: mpsc::Sender<Reply>,
}

impl Request for PlainRequest {
    fn id(&self) -> &RequestId {
        &self.id
    }

    fn meta(&self) -> &RequestMetaObject {
        self.meta.get()
    }

    fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    fn is_modern(&self) -> bool {
        self.is_modern
    }

    fn principal(&self) -> Option<Arc<Principal>> {
        self.parts.extensions.get().cloned()
    }

    fn arguments(&self) -> Option<&str> {
        self.parts.extensions.get().map(RawArguments::get)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.parts.headers.get(name)?.to_str().ok()
    }

    fn keeps_numbers(&self) -> bool {
        false
    }

    fn notify(&self, message: ServerNotification) -> BoxFuture<'_, ()> {
        Box::pin(async { drop(self.messages.send(Reply::notification(message)).await) })
    }

    fn peer(&self) -> Option<&Peer<RoleServer>> {
        None
    }
}
