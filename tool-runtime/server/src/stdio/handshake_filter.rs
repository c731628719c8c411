//! Requests and notifications that fit the state of the handshake.

use rmcp::RoleServer;
use rmcp::model::{
    ClientRequest, ErrorCode, ErrorData, GetMeta, JsonRpcMessage, ProtocolVersion, RequestId,
};
use rmcp::service::RxJsonRpcMessage;
use serde_json::json;
use tool_runtime_core::seam::excerpt;

use crate::methods::is_old_method;
use crate::rejection::Rejection;

/// Holds back whatever would end rmcp's handshake, and refuses what its protocol version does not have.
///
/// While rmcp waits for the first request, a notification or a response is a fatal error to it.
/// But a client that probes with `server/discover`, loses patience and sends
/// `notifications/cancelled` before it falls back to `initialize` does nothing wrong.
///
/// Limit: a request of a protocol version that rmcp knows and the handler refuses opens the gate.
#[derive(Default)]
pub(super) struct HandshakeFilter {
    opened: Option<By>,
}

/// The first request that rmcp leaves its handshake with.
#[derive(Clone, Copy, PartialEq)]
enum By {
    /// A session of 2025-11-25 or before.
    Initialize,
    /// A request that stands alone, as in 2026-07-28.
    Metadata,
}

impl HandshakeFilter {
    /// Whether rmcp should see this message.
    ///
    /// # Errors
    /// The answer to a request that does not fit.
    pub(super) fn admits(
        &mut self,
        message: &RxJsonRpcMessage<RoleServer>,
    ) -> Result<bool, Rejection> {
        if let JsonRpcMessage::Request(request) = message {
            self.check(&request.id, &request.request)?;
            self.opened = self.opened.or_else(|| opens(&request.request));
            return Ok(true);
        }
        if self.opened.is_none() {
            tracing::debug!("ignoring a message that is not a request before the session is open");
        }
        Ok(self.opened.is_some())
    }

    fn check(&self, id: &RequestId, request: &ClientRequest) -> Result<(), Rejection> {
        if let Some(refusal) = unknown_version(request) {
            return Err(Rejection::to(id, refusal));
        }
        let method = request.method();
        if is_old_method(method) && is_modern(request) {
            let text = format!("unknown method `{method}`: 2026-07-28 does not have it");
            return Err(Rejection::to(id, ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None)));
        }
        if matches!(request, ClientRequest::InitializeRequest(_))
            && self.opened == Some(By::Metadata)
        {
            let text = "`initialize` must be the first request, or follow `server/discover`: this connection has served requests without a session; open another one";
            return Err(Rejection::to(id, ErrorData::invalid_request(text, None)));
        }
        Ok(())
    }
}

/// Whether rmcp leaves its handshake with this request, and how.
fn opens(request: &ClientRequest) -> Option<By> {
    match request {
        ClientRequest::InitializeRequest(_) => Some(By::Initialize),
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => None,
        _ => has_inline_metadata(request).then_some(By::Metadata),
    }
}

/// The refusal of a version that rmcp does not know, which would quote all of it.
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

fn is_modern(request: &ClientRequest) -> bool {
    let version = request.get_meta().protocol_version();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Whether the request carries what 2026-07-28 has in place of a handshake.
fn has_inline_metadata(request: &ClientRequest) -> bool {
    let meta = request.get_meta();
    let complete = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
    complete
        && meta
            .protocol_version()
            .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
}
