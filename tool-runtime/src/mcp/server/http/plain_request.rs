//! The request of a plain call, and how its client is reached without rmcp's context of a request.

use super::reply::Reply;
use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, Implementation, InitializeRequestParams, RequestId, RequestMetaObject,
    ServerNotification,
};
use rmcp::service::Peer;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The request of a plain call.
pub(in crate::mcp::server) struct PlainRequest {
    pub(in crate::mcp::server) id: RequestId,
    pub(in crate::mcp::server) meta: RequestMetaObject,
    pub(in crate::mcp::server) is_modern: bool,
    pub(in crate::mcp::server) parts: Parts,
    pub(in crate::mcp::server) token: CancellationToken,
    pub(super) way: Way,
}

/// How its client is told things.
pub(super) enum Way {
    /// By the answer to the request itself.
    Answer(mpsc::Sender<Reply>),
    /// In its session, once rmcp has the request: it knows by the task which stream a message
    /// belongs to.
    Session { peer: Peer<RoleServer>, is_adopted: AtomicBool },
}

impl PlainRequest {
    pub(in crate::mcp::server) fn client_info(&self) -> Option<Implementation> {
        let greeted = || self.greeting().map(|greeting| greeting.client_info.clone());
        self.meta.client_info().or_else(greeted)
    }

    pub(in crate::mcp::server) fn client_capabilities(&self) -> Option<ClientCapabilities> {
        let greeted = || self.greeting().map(|greeting| greeting.capabilities.clone());
        self.meta.client_capabilities().or_else(greeted)
    }

    /// What its client said of itself when the session began.
    fn greeting(&self) -> Option<Arc<InitializeRequestParams>> {
        match &self.way {
            Way::Answer(_) => None,
            Way::Session { peer, .. } => peer.peer_info(),
        }
    }

    /// Tells the client something before the answer. One that is gone hears nothing.
    pub(in crate::mcp::server) async fn tell(&self, message: ServerNotification) {
        match &self.way {
            Way::Answer(told) => drop(told.send(Reply::notification(message)).await),
            Way::Session { peer, is_adopted } => {
                adopted(is_adopted).await;
                drop(peer.send_notification(message).await);
            }
        }
    }

    /// Where the client can be asked, if its answer can come back.
    pub(in crate::mcp::server) async fn peer(&self) -> Option<&Peer<RoleServer>> {
        match &self.way {
            Way::Answer(_) => None,
            Way::Session { peer, is_adopted } => {
                adopted(is_adopted).await;
                Some(peer)
            }
        }
    }

    /// From now on it runs in a task of rmcp.
    pub(super) fn adopt(&self) {
        if let Way::Session { is_adopted, .. } = &self.way {
            is_adopted.store(true, Ordering::Relaxed);
        }
    }
}

/// Waits until rmcp has the request. Nobody is woken: whoever adopts a call polls it again.
async fn adopted(is_adopted: &AtomicBool) {
    poll_fn(|_| match is_adopted.load(Ordering::Relaxed) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}
