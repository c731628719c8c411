//! What may pass before a session is open.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion};
use rmcp::service::RxJsonRpcMessage;

/// Holds back whatever would end rmcp's handshake.
///
/// While rmcp waits for the first request, a notification or a response is a fatal error to it.
/// But a client that probes with `server/discover`, loses patience and sends
/// `notifications/cancelled` before it falls back to `initialize` does nothing wrong.
///
/// Limit: a request of a protocol version that rmcp knows and the handler refuses opens the gate.
#[derive(Default)]
pub(super) struct Gate {
    open: bool,
}

impl Gate {
    /// Whether rmcp should see this message.
    pub(super) fn admits(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> bool {
        if self.open {
            return true;
        }
        let JsonRpcMessage::Request(request) = message else {
            tracing::debug!("ignoring a message that is no request before the session is open");
            return false;
        };
        self.open = opens(&request.request);
        true
    }
}

/// Whether rmcp leaves its handshake with this request.
fn opens(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        _ => has_inline_metadata(request),
    }
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
