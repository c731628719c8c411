//! Passes on unknown members of definitions and results, and unknown kinds of content, of external servers,
//! which rmcp's types cannot hold.
//!
//! These parts pass rmcp inside `_meta`, and the transports restore them. When rmcp answers an HTTP request without
//! a session, they stay in `_meta`.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, CustomResult, JsonRpcMessage, ListToolsResult, MetaObject, ServerResult, Tool,
};
use rmcp::service::TxJsonRpcMessage;
use serde_json::{Map, Value, json};
use tool_runtime_core::seam::add_unknown;
use tool_runtime_core::tool::Observation;

/// Member of `_meta` with a result that rmcp's types cannot hold.
const WHOLE: &str = "tool-runtime/whole";
/// Member of `_meta` with members of a definition that rmcp's types cannot hold.
const UNKNOWN: &str = "tool-runtime/unknown";

/// Keeps unknown members of a definition.
pub(super) fn keep_unknown(tool: &mut Tool, unknown: &Map<String, Value>) {
    if !unknown.is_empty() {
        let meta = tool.meta.get_or_insert_with(MetaObject::default);
        meta.0.insert(UNKNOWN.to_owned(), unknown.clone().into());
    }
}

/// Keeps the whole of an observation.
///
/// # Errors
/// A value is nested too deep.
pub(super) fn keep_whole(
    mut result: CallToolResult,
    observation: &Observation,
) -> serde_json::Result<CallToolResult> {
    let mut whole = serde_json::to_value(observation)?;
    whole["isError"] = observation.is_error().into();
    if let Some(structured) = &result.structured_content {
        whole["structuredContent"] = structured.clone();
    }
    result.meta.get_or_insert_with(MetaObject::default).0.insert(WHOLE.to_owned(), whole);
    Ok(result)
}

/// The message with everything restored.
pub(super) fn restored(message: TxJsonRpcMessage<RoleServer>) -> TxJsonRpcMessage<RoleServer> {
    match message {
        JsonRpcMessage::Response(mut response) => {
            response.result = restore_result(response.result);
            JsonRpcMessage::Response(response)
        }
        message => message,
    }
}

/// The result with everything restored.
pub(super) fn restore_result(result: ServerResult) -> ServerResult {
    match result {
        ServerResult::CallToolResult(result) => restore_call_result(result),
        ServerResult::ListToolsResult(list) => restore_list_result(list),
        result => result,
    }
}

fn restore_call_result(mut result: CallToolResult) -> ServerResult {
    let original = result.meta.as_mut().and_then(|meta| meta.0.shift_remove(WHOLE));
    let Some(mut whole) = original else { return result.into() };
    if let (Some(kind), Value::Object(members)) = (&result.result_type, &mut whole) {
        members.insert("resultType".to_owned(), json!(kind));
    }
    ServerResult::CustomResult(CustomResult(whole))
}

fn restore_list_result(list: ListToolsResult) -> ServerResult {
    let is_kept = |tool: &Tool| tool.meta.as_ref().is_some_and(|meta| meta.0.contains_key(UNKNOWN));
    if !list.tools.iter().any(is_kept) {
        return list.into();
    }
    let Ok(mut value) = serde_json::to_value(&list) else { return list.into() };
    for tool in value["tools"].as_array_mut().into_iter().flatten() {
        restore(tool);
    }
    ServerResult::CustomResult(CustomResult(value))
}

fn restore(tool: &mut Value) {
    let Value::Object(members) = tool else { return };
    let Some(Value::Object(meta)) = members.get_mut("_meta") else { return };
    let Some(Value::Object(unknown)) = meta.shift_remove(UNKNOWN) else { return };
    if meta.is_empty() {
        members.shift_remove("_meta");
    }
    add_unknown(&unknown, members);
}
