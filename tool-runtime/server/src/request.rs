//! One request of a client, and the channel back to it.

use super::arguments::RawArguments;
use super::caller::Caller;
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, GetExtensions as _, Implementation, ProtocolVersion, RequestId,
    RequestMetaObject, ServerNotification,
};
use rmcp::service::{OriginatingRequestId, Peer, RequestContext};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::{BoxFuture, Principal};

/// A request, whichever way it came.
pub(super) trait Request: Send + Sync {
    /// Its JSON-RPC id.
    fn id(&self) -> &RequestId;

    /// Its `_meta`.
    fn meta(&self) -> &RequestMetaObject;

    /// Cancelled when the client gives up.
    fn token(&self) -> CancellationToken;

    /// Whether its protocol version is 2026-07-28 or later.
    fn is_modern(&self) -> bool;

    fn client_info(&self) -> Option<Implementation>;

    fn client_capabilities(&self) -> Option<ClientCapabilities>;

    /// Who sent it; `None` for everybody over stdio.
    fn principal(&self) -> Option<Arc<Principal>>;

    /// The arguments as the client wrote them, where the transport has kept them.
    fn arguments(&self) -> Option<&str>;

    /// A header of the HTTP request, by its name in any case.
    fn header(&self, name: &str) -> Option<&str>;

    /// Whether the transport writes integers of more than 64 bits as a text mirror has them.
    fn keeps_numbers(&self) -> bool;

    /// Whether the transport polls the call itself and isolates it as a whole.
    fn is_polled_by_transport(&self) -> bool {
        false
    }

    /// Sends the client a notification. It is lost if the client has gone: its call is cancelled
    /// elsewhere.
    fn notify(&self, message: ServerNotification) -> BoxFuture<'_, ()>;

    /// Sends requests to a client of 2025-11-25 or before, if its answers can come back.
    fn peer(&self) -> Option<&Peer<RoleServer>>;
}

/// A request out of rmcp's service loop.
impl Request for RequestContext<RoleServer> {
    fn id(&self) -> &RequestId {
        &self.id
    }

    fn meta(&self) -> &RequestMetaObject {
        &self.meta
    }

    fn token(&self) -> CancellationToken {
        self.ct.clone()
    }

    fn is_modern(&self) -> bool {
        is_modern(self)
    }

    fn client_info(&self) -> Option<Implementation> {
        self.client_info()
    }

    fn client_capabilities(&self) -> Option<ClientCapabilities> {
        self.client_capabilities()
    }

    fn principal(&self) -> Option<Arc<Principal>> {
        principal(self)
    }

    fn arguments(&self) -> Option<&str> {
        #[cfg(feature = "http")]
        if let Some(parts) = parts(self) {
            return super::arguments::of(parts);
        }
        self.extensions.get::<RawArguments>().map(|RawArguments(raw)| raw.get())
    }

    fn header(&self, name: &str) -> Option<&str> {
        if let Some(caller) = self.extensions.get::<Caller>() {
            return caller.header(name);
        }
        #[cfg(feature = "http")]
        return parts(self)?.headers.get(name)?.to_str().ok();
        #[cfg(not(feature = "http"))]
        None
    }

    fn keeps_numbers(&self) -> bool {
        #[cfg(feature = "http")]
        return parts(self).is_none();
        #[cfg(not(feature = "http"))]
        true
    }

    fn notify(&self, message: ServerNotification) -> BoxFuture<'_, ()> {
        let mut message = message;
        message.extensions_mut().insert(OriginatingRequestId(self.id.clone()));
        Box::pin(async { drop(self.peer.send_notification(message).await) })
    }

    fn peer(&self) -> Option<&Peer<RoleServer>> {
        Some(&self.peer)
    }
}

/// Who sent a request; `None` for everybody over stdio.
pub(super) fn principal(request: &RequestContext<RoleServer>) -> Option<Arc<Principal>> {
    if let Some(caller) = request.extensions.get::<Caller>() {
        return caller.principal.clone();
    }
    #[cfg(feature = "http")]
    return parts(request)?.extensions.get().cloned();
    #[cfg(not(feature = "http"))]
    None
}

pub(super) fn is_modern(request: &RequestContext<RoleServer>) -> bool {
    request.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// The HTTP request that it came in.
#[cfg(feature = "http")]
fn parts(request: &RequestContext<RoleServer>) -> Option<&axum::http::request::Parts> {
    request.extensions.get()
}
