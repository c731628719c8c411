//! Anthropic Messages: a response is a message of blocks.

use super::call::{call, ids, object, request_name};
use super::{finish_reason_of, joined, list};
use crate::api::Api;
use serde_json::{Value, json};
use tool_runtime_core::tool::ToolCall;
use tool_runtime_core::tool::export::ImportError;

fn blocks(response: &Value) -> Result<&[Value], ImportError> {
    list(response, "Anthropic Messages", "/content")
}

fn is_call(block: &&Value) -> bool {
    block["type"] == "tool_use"
}

fn call_ids(response: &Value, blocks: &[Value]) -> Vec<String> {
    ids(response, blocks.iter().filter(is_call).map(|block| &block["id"]))
}

pub(super) fn calls(response: &Value) -> Result<Vec<ToolCall>, ImportError> {
    let blocks = blocks(response)?;
    let ids = call_ids(response, blocks);
    let calls = blocks.iter().filter(is_call).zip(ids);
    Ok(calls.map(|(block, id)| call(id, &block["name"], &block["input"])).collect())
}

pub(super) fn text(response: &Value) -> Result<String, ImportError> {
    Ok(joined(blocks(response)?, |block| block["type"] == "text"))
}

pub(super) fn messages(response: &Value) -> Result<Vec<Value>, ImportError> {
    let blocks = blocks(response)?;
    let mut ids = call_ids(response, blocks).into_iter();
    let is_cut = finish_reason_of(&response["stop_reason"]).is_cut();
    let last = blocks.len().saturating_sub(1);
    let mut content = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        match block["type"].as_str() {
            // Strings without a word are rejected.
            Some("text") if block["text"].as_str().is_none_or(|text| text.trim().is_empty()) => {}
            // A thought that was cut has no signature, and a call of the API's own tool no result.
            Some("thinking" | "server_tool_use" | "mcp_tool_use") if is_cut && index == last => {}
            Some("tool_use") => content.push(repeated(block, ids.next().unwrap_or_default())),
            _ => content.push(block.clone()),
        }
    }
    // An empty message is rejected.
    let message = json!({ "role": "assistant", "content": content });
    Ok(if content.is_empty() { Vec::new() } else { vec![message] })
}

/// A call as a request takes it.
fn repeated(block: &Value, id: String) -> Value {
    let mut block = block.clone();
    let name = block["name"].as_str().unwrap_or_default();
    block["name"] = json!(request_name(Api::Anthropic, name));
    block["input"] = Value::Object(object(&block["input"]));
    block["id"] = Value::String(id);
    block
}
