//! Parses a line as a message.

use crate::fast_path::RawCall;
use crate::rejection::{Rejection, diagnose, unusable_params};
use rmcp::model::ClientJsonRpcMessage;

/// A message for rmcp, `None` for a line to ignore, or the answer to an invalid line.
pub(super) type Parsed = Result<Option<ClientJsonRpcMessage>, Rejection>;

/// Parses a line without the fast path.
#[cfg(any(test, feature = "__fuzz"))]
pub(super) fn parse(line: &[u8]) -> Parsed {
    let text = text(line)?;
    parse_message(text, RawCall::read(text))
}

/// The line as text.
pub(super) fn text(line: &[u8]) -> Result<&str, Rejection> {
    std::str::from_utf8(line).map_err(|_| Rejection::not_utf8())
}

/// Parses a line that may have been read as a call.
pub(super) fn parse_message(text: &str, call: Option<RawCall<'_>>) -> Parsed {
    // Only objects are messages; rmcp would buffer a whole batch to find that out.
    if text.starts_with('{') {
        if let Some(call) = call.and_then(RawCall::into_message) {
            return Ok(Some(call));
        }
        if let Ok(message) = serde_json::from_str(text) {
            return unusable_params(text).map_or(Ok(Some(message)), Err);
        }
    }
    diagnose(text).map_or(Ok(None), Err)
}
