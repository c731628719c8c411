//! The state of a server in commands that attempt each connection once.

use tool_runtime_client::McpState;

/// The name of a state in JSON output. Stable, since scripts rely on it.
pub(super) fn name(state: &McpState) -> &'static str {
    match state {
        McpState::Connecting => "connecting",
        McpState::Ready => "ready",
        McpState::Retrying { .. } | McpState::Unusable { .. } => "failed",
        McpState::Disabled => "disabled",
        McpState::Authorizing | McpState::NeedsAuth { .. } => "needs_auth",
        McpState::Closed => "closed",
        _ => "unknown",
    }
}

/// The reason why an enabled server is not connected.
pub(crate) fn failure_reason(state: &McpState) -> Option<String> {
    match state {
        McpState::Ready | McpState::Disabled => None,
        McpState::Connecting => Some("it did not answer in time".to_owned()),
        other => Some(other.reason().map_or_else(|| other.to_string(), str::to_owned)),
    }
}
