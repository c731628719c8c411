//! One request of a client, and the channel back to the client.

use super::arguments::RawArguments;
use super::caller::Caller;
#[cfg(feature = "http")]
use super::http::RunningCall;
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, ErrorData, GetExtensions as _, Implementation, ProtocolVersion, RequestId,
    RequestMetaObject, ServerNotification,
};
use rmcp::service::{OriginatingRequestId, Peer};
use std::future::ready;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::vocabulary::{BoxFuture, Principal};

/// A request as rmcp's service loop passes it to handlers.
pub(super) type RequestContext = rmcp::service::RequestContext<RoleServer>;

/// A result, or a JSON-RPC error.
pub(super) type McpResult<T> = Result<T, ErrorData>;

/// How a `tools/call` ended, for the line of the log about its request. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct OutcomeNote(Arc<OnceLock<&'static str>>);

impl OutcomeNote {
    pub(super) fn set(&self, outcome: &'static str) {
        // A request has one call.
        let _is_first = self.0.set(outcome);
    }

    #[cfg(feature = "http")]
    pub(super) fn get(&self) -> Option<&'static str> {
        self.0.get().copied()
    }
}

/// A request of any transport.
pub(super) trait Request: Send + Sync {
    /// The JSON-RPC id.
    fn id(&self) -> &RequestId;

    /// The `_meta` object.
    fn meta(&self) -> &RequestMetaObject;

    /// Cancelled when the client cancels the request.
    fn token(&self) -> CancellationToken;

    /// Whether the protocol version is 2026-07-28 or later.
    fn is_stateless(&self) -> bool;

    /// The arguments as the client wrote them, if the transport has kept them.
    fn arguments(&self) -> Option<&str>;

    /// The authenticated caller; `None` over stdio.
    fn principal(&self) -> Option<Arc<Principal>> {
        None
    }

    /// A header of the HTTP request, by its name in any case.
    fn header(&self, _name: &str) -> Option<&str> {
        None
    }

    /// Whether the transport restores integers of more than 64 bits from the text of a result.
    fn keeps_big_integers(&self) -> bool {
        true
    }

    /// Where the end of the call is noted, if the transport logs it.
    fn outcome_note(&self) -> Option<&OutcomeNote> {
        None
    }

    /// Whether the transport polls the call itself and isolates it as a whole.
    fn is_polled_by_transport(&self) -> bool {
        false
    }

    /// Sends a notification to the client. The notification is lost if the client has disconnected, which cancels the call.
    fn notify(&self, message: ServerNotification) -> BoxFuture<'_, ()>;

    /// Waits until requests to the client belong to the stream of this request.
    fn open_stream(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    /// Sends requests to a client of 2025-11-25 or before, if it can send answers.
    fn peer(&self) -> Option<&Peer<RoleServer>>;

    fn client_info(&self) -> Option<Implementation> {
        let of_session = || Some(self.peer()?.peer_info()?.client_info.clone());
        self.meta().client_info().or_else(of_session)
    }

    fn client_capabilities(&self) -> Option<ClientCapabilities> {
        let of_session = || Some(self.peer()?.peer_info()?.capabilities.clone());
        self.meta().client_capabilities().or_else(of_session)
    }
}

impl Request for RequestContext {
    fn id(&self) -> &RequestId {
        &self.id
    }

    fn meta(&self) -> &RequestMetaObject {
        &self.meta
    }

    fn token(&self) -> CancellationToken {
        self.ct.clone()
    }

    fn is_stateless(&self) -> bool {
        is_stateless(self)
    }

    fn arguments(&self) -> Option<&str> {
        #[cfg(feature = "http")]
        if let Some(parts) = parts(self) {
            return parts.extensions.get().map(RawArguments::get);
        }
        self.extensions.get().map(RawArguments::get)
    }

    fn principal(&self) -> Option<Arc<Principal>> {
        principal(self)
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

    #[cfg(feature = "http")]
    fn keeps_big_integers(&self) -> bool {
        parts(self).is_none()
    }

    #[cfg(feature = "http")]
    fn outcome_note(&self) -> Option<&OutcomeNote> {
        parts(self)?.extensions.get()
    }

    fn notify(&self, mut message: ServerNotification) -> BoxFuture<'_, ()> {
        message.extensions_mut().insert(OriginatingRequestId(self.id.clone()));
        Box::pin(async { drop(self.peer.send_notification(message).await) })
    }

    fn peer(&self) -> Option<&Peer<RoleServer>> {
        Some(&self.peer)
    }

    fn client_info(&self) -> Option<Implementation> {
        self.client_info()
    }

    fn client_capabilities(&self) -> Option<ClientCapabilities> {
        self.client_capabilities()
    }
}

/// The authenticated caller; `None` over stdio.
pub(super) fn principal(request: &RequestContext) -> Option<Arc<Principal>> {
    if let Some(caller) = request.extensions.get::<Caller>() {
        return caller.principal.clone();
    }
    #[cfg(feature = "http")]
    return parts(request)?.extensions.get().cloned();
    #[cfg(not(feature = "http"))]
    None
}

pub(super) fn is_stateless(request: &RequestContext) -> bool {
    request.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// The call that this request continues.
#[cfg(feature = "http")]
pub(super) fn running_call(request: &RequestContext) -> Option<RunningCall> {
    parts(request)?.extensions.get().cloned()
}

/// The head of the HTTP request.
#[cfg(feature = "http")]
fn parts(request: &RequestContext) -> Option<&axum::http::request::Parts> {
    request.extensions.get()
}
