//! One request of a client, and the channel back.

use super::caller::Caller;
#[cfg(feature = "http")]
use super::http::{PlainRequest, request as carried};
use super::stdio::RawArguments;
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, GetExtensions as _, Implementation, ProtocolVersion, RequestId,
    RequestMetaObject, ServerNotification,
};
use rmcp::service::{OriginatingRequestId, Peer, RequestContext};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::Principal;

/// A request, by the way that it came.
#[allow(clippy::large_enum_variant, reason = "it is moved once, to where its client is kept")]
pub(super) enum Request {
    /// Out of rmcp's service loop.
    Rmcp(RequestContext<RoleServer>),
    /// Past it, over HTTP.
    #[cfg(feature = "http")]
    Plain(PlainRequest),
}

impl Request {
    pub(super) fn id(&self) -> &RequestId {
        match self {
            Self::Rmcp(request) => &request.id,
            #[cfg(feature = "http")]
            Self::Plain(request) => &request.id,
        }
    }

    pub(super) fn meta(&self) -> &RequestMetaObject {
        match self {
            Self::Rmcp(request) => &request.meta,
            #[cfg(feature = "http")]
            Self::Plain(request) => &request.meta,
        }
    }

    /// Cancelled when the client gives up.
    pub(super) fn token(&self) -> CancellationToken {
        match self {
            Self::Rmcp(request) => request.ct.clone(),
            #[cfg(feature = "http")]
            Self::Plain(request) => request.token.clone(),
        }
    }

    pub(super) fn is_modern(&self) -> bool {
        match self {
            Self::Rmcp(request) => is_modern(request),
            #[cfg(feature = "http")]
            Self::Plain(request) => request.is_modern,
        }
    }

    pub(super) fn client_info(&self) -> Option<Implementation> {
        match self {
            Self::Rmcp(request) => request.client_info(),
            #[cfg(feature = "http")]
            Self::Plain(request) => request.client_info(),
        }
    }

    pub(super) fn client_capabilities(&self) -> Option<ClientCapabilities> {
        match self {
            Self::Rmcp(request) => request.client_capabilities(),
            #[cfg(feature = "http")]
            Self::Plain(request) => request.client_capabilities(),
        }
    }

    /// Who makes it; `None` for everybody over stdio.
    pub(super) fn principal(&self) -> Option<Arc<Principal>> {
        match self {
            Self::Rmcp(request) => principal(request),
            #[cfg(feature = "http")]
            Self::Plain(request) => carried::principal(&request.parts),
        }
    }

    /// The arguments as the client wrote them, where the transport has kept them.
    pub(super) fn arguments(&self) -> Option<&str> {
        #[cfg(feature = "http")]
        if let Some(text) = self.parts().and_then(carried::arguments) {
            return Some(text);
        }
        match self {
            Self::Rmcp(request) => {
                request.extensions.get::<RawArguments>().map(|RawArguments(raw)| raw.get())
            }
            #[cfg(feature = "http")]
            Self::Plain(_) => None,
        }
    }

    /// What came around it over HTTP.
    #[cfg(feature = "http")]
    pub(super) fn parts(&self) -> Option<&axum::http::request::Parts> {
        match self {
            Self::Rmcp(request) => request.extensions.get(),
            Self::Plain(request) => Some(&request.parts),
        }
    }

    /// Whether the transport writes integers of more than 64 bits as a text mirror has them.
    pub(super) fn keeps_numbers(&self) -> bool {
        #[cfg(feature = "http")]
        return self.parts().is_none();
        #[cfg(not(feature = "http"))]
        true
    }

    /// A header of the HTTP request, by its name in any case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        if let Self::Rmcp(request) = self
            && let Some(caller) = request.extensions.get::<Caller>()
        {
            return caller.header(name);
        }
        #[cfg(feature = "http")]
        return self.parts()?.headers.get(name)?.to_str().ok();
        #[cfg(not(feature = "http"))]
        None
    }

    /// Tells the client something. One that is gone hears nothing, and its call is cancelled
    /// elsewhere.
    pub(super) async fn tell(&self, message: ServerNotification) {
        match self {
            Self::Rmcp(request) => {
                let mut message = message;
                message.extensions_mut().insert(OriginatingRequestId(request.id.clone()));
                drop(request.peer.send_notification(message).await);
            }
            #[cfg(feature = "http")]
            Self::Plain(request) => request.tell(message).await,
        }
    }

    /// Where a client of the older era can be asked, if its answer can come back.
    pub(super) fn peer(&self) -> Option<&Peer<RoleServer>> {
        match self {
            Self::Rmcp(request) => Some(&request.peer),
            #[cfg(feature = "http")]
            Self::Plain(_) => None,
        }
    }
}

/// Who makes a request; `None` for everybody over stdio.
pub(super) fn principal(request: &RequestContext<RoleServer>) -> Option<Arc<Principal>> {
    if let Some(caller) = request.extensions.get::<Caller>() {
        return caller.principal.clone();
    }
    #[cfg(feature = "http")]
    return carried::principal(request.extensions.get()?);
    #[cfg(not(feature = "http"))]
    {
        let _ = request;
        None
    }
}

pub(super) fn is_modern(request: &RequestContext<RoleServer>) -> bool {
    request.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}
