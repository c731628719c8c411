//! Filters messages by the state of the handshake.

use rmcp::RoleServer;
use rmcp::model::{
    ClientRequest, ErrorCode, ErrorData, GetMeta, JsonRpcMessage, ProtocolVersion, RequestId,
};
use rmcp::service::RxJsonRpcMessage;
use serde_json::json;
use tool_runtime_core::seam::excerpt;

use crate::methods::is_old_method;
use crate::rejection::Rejection;

/// Drops messages that would end rmcp's handshake, and rejects methods that the version does not have.
///
/// While rmcp waits for the first request, it treats a notification or a response as a fatal error.
/// But a client may probe with `server/discover`, cancel the request after a timeout, and fall back to
/// `initialize`.
///
/// Limitation: a request of a version that rmcp supports and the handler rejects ends the
/// handshake.
#[derive(Default)]
pub(super) struct HandshakeFilter {
    lifecycle: Option<Lifecycle>,
}

/// The lifecycle, by the request that ends rmcp's handshake.
#[derive(Clone, Copy, PartialEq)]
enum Lifecycle {
    /// `initialize`: a session of 2025-11-25 or before.
    Stateful,
    /// A request with its own metadata, as in 2026-07-28.
    Stateless,
}

impl HandshakeFilter {
    /// Whether rmcp should see this message.
    ///
    /// # Errors
    /// The answer to a request that is not valid now.
    pub(super) fn passes(
        &mut self,
        message: &RxJsonRpcMessage<RoleServer>,
    ) -> Result<bool, Rejection> {
        if let JsonRpcMessage::Request(request) = message {
            self.check(&request.id, &request.request)?;
            self.lifecycle = self.lifecycle.or_else(|| begun_by(&request.request));
            return Ok(true);
        }
        if self.lifecycle.is_none() {
            tracing::debug!("ignoring a message that is not a request before the session is open");
        }
        Ok(self.lifecycle.is_some())
    }

    fn check(&self, id: &RequestId, request: &ClientRequest) -> Result<(), Rejection> {
        if let Some(error) = unknown_version(request) {
            return Err(Rejection::to(id, error));
        }
        let method = request.method();
        if is_old_method(method) && is_stateless(request) {
            let text = format!("unknown method `{method}`: 2026-07-28 does not have it");
            return Err(Rejection::to(id, ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None)));
        }
        if matches!(request, ClientRequest::InitializeRequest(_))
            && self.lifecycle == Some(Lifecycle::Stateless)
        {
            let text = "`initialize` must be the first request, or follow `server/discover`: this connection has served requests without a session; open another one";
            return Err(Rejection::to(id, ErrorData::invalid_request(text, None)));
        }
        Ok(())
    }
}

/// The lifecycle that this request begins, if it ends rmcp's handshake.
fn begun_by(request: &ClientRequest) -> Option<Lifecycle> {
    match request {
        ClientRequest::InitializeRequest(_) => Some(Lifecycle::Stateful),
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => None,
        _ => has_inline_metadata(request).then_some(Lifecycle::Stateless),
    }
}

/// The error for a version that rmcp does not support. rmcp's own error would quote the whole
/// version.
fn unknown_version(request: &ClientRequest) -> Option<ErrorData> {
    let version = request.get_meta().protocol_version()?;
    let is_known = ProtocolVersion::KNOWN_VERSIONS.contains(&version);
    if is_known || matches!(request, ClientRequest::InitializeRequest(_)) {
        return None;
    }
    let data = json!({
        "requested": excerpt(version.as_str()),
        "supported": ProtocolVersion::KNOWN_VERSIONS,
    });
    let code = ErrorCode::UNSUPPORTED_PROTOCOL_VERSION;
    Some(ErrorData::new(code, "Unsupported protocol version", Some(data)))
}

fn is_stateless(request: &ClientRequest) -> bool {
    let version = request.get_meta().protocol_version();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Whether the request has the metadata that replaces the handshake in 2026-07-28.
fn has_inline_metadata(request: &ClientRequest) -> bool {
    let meta = request.get_meta();
    let complete = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
    complete
        && meta
            .protocol_version()
            .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
}
