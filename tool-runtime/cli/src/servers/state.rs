//! Words for the state of a server, in a command that tries it once.

use tool_runtime_client::McpState;

/// In a word, which scripts may rely on.
pub(super) fn word(state: &McpState) -> &'static str {
    match state {
        McpState::Connecting => "connecting",
        McpState::Ready => "ready",
        McpState::Retrying { .. } => "failed",
        McpState::Disabled => "disabled",
        McpState::Authorizing | McpState::NeedsAuth { .. } => "needs_auth",
        McpState::Closed => "closed",
        _ => "unknown",
    }
}

/// Why it is not there, if it should be.
pub(super) fn fault(state: &McpState) -> Option<String> {
    match state {
        McpState::Ready | McpState::Disabled => None,
        McpState::Connecting => Some("it did not answer in time".to_owned()),
        other => Some(other.reason().map_or_else(|| other.to_string(), str::to_owned)),
    }
}
