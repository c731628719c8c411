//! Restores integers of more than 64 bits in structured values, which rmcp does not keep.

use rmcp::RoleServer;
use rmcp::model::{ContentBlock, JsonRpcMessage, ServerResult};
use rmcp::service::TxJsonRpcMessage;
use serde_json::value::RawValue;
use tool_runtime_mcp::numbers;

/// The message with the structured value of its text mirror, if rmcp has changed the value.
pub(crate) fn message(message: &TxJsonRpcMessage<RoleServer>) -> Option<Box<RawValue>> {
    let JsonRpcMessage::Response(response) = message else { return None };
    let ServerResult::CallToolResult(result) = &response.result else { return None };
    let structured = result.structured_content.as_ref()?;
    let [ContentBlock::Text(mirror)] = result.content.as_slice() else { return None };
    // A message is one line.
    if mirror.text.contains(['\n', '\r']) {
        return None;
    }
    let exact = numbers::exact(structured, &mirror.text)?;
    let line = serde_json::to_string(message).ok()?;
    let key = "\"structuredContent\":";
    let line = line.replacen(&format!("{key}{structured}"), &format!("{key}{exact}"), 1);
    RawValue::from_string(line).ok()
}
