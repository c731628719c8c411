//! Parses a line as a message.

use rmcp::RoleServer;
use rmcp::service::RxJsonRpcMessage;

use super::tool_call;
use crate::rejection::{Rejection, diagnose, unusable_cursor};

/// A message rmcp understands, an answer to send instead, or `None` for a line to ignore.
pub(super) type Parsed = Result<Option<RxJsonRpcMessage<RoleServer>>, Rejection>;

/// Parses one line, which is not blank.
pub(super) fn parse(line: &[u8]) -> Parsed {
    let Ok(text) = std::str::from_utf8(line) else {
        return Err(Rejection::not_utf8());
    };
    // Only objects are messages; rmcp would buffer a whole batch to find that out.
    if text.starts_with('{') {
        if let Some(call) = tool_call::parse(text) {
            return Ok(Some(call));
        }
        if let Ok(message) = serde_json::from_str(text) {
            return unusable_cursor(text).map_or(Ok(Some(message)), Err);
        }
    }
    diagnose(text).map_or(Ok(None), Err)
}
