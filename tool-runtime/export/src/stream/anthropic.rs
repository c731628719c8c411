//! Anthropic Messages: blocks that grow by deltas.

use super::merge::merge;
use super::{Delta, INDEX, add_entry, append, list, member, remove_indexes, words};
use serde_json::{Value, json};

/// The unparsed input of a call, until its block is whole.
const INPUT: &str = "input in the stream";

pub(super) fn push(response: &mut Value, is_ended: &mut bool, event: &Value) -> Vec<Delta> {
    match event["type"].as_str().unwrap_or_default() {
        "message_start" => {
            *response = event["message"].clone();
            Vec::new()
        }
        "content_block_start" => begin(list(member(response, "content")), event),
        "content_block_delta" => {
            let block = block_of(list(member(response, "content")), event);
            block.and_then(|block| grow(block, &event["delta"])).into_iter().collect()
        }
        "message_delta" => {
            end(response, event);
            *is_ended |= words(&response["stop_reason"]).is_some();
            Vec::new()
        }
        "message_stop" => {
            *is_ended = true;
            Vec::new()
        }
        _ => Vec::new(),
    }
}

fn begin(content: &mut Vec<Value>, event: &Value) -> Vec<Delta> {
    let block = &event["content_block"];
    let Some(added) = block["type"].as_str().and_then(|_| add_entry(content, block.clone())) else {
        return Vec::new();
    };
    added[INDEX] = event["index"].clone();
    let delta = match block["type"].as_str().unwrap_or_default() {
        "tool_use" => block["name"].as_str().map(|name| Delta::Call(name.to_owned())),
        "text" => words(&block["text"]).map(|text| Delta::Text(text.to_owned())),
        "thinking" => words(&block["thinking"]).map(|text| Delta::Thought(text.to_owned())),
        _ => None,
    };
    delta.into_iter().collect()
}

/// The block that a delta belongs to: the latest of its index, else the last. Text may come without the beginning of its
/// block.
fn block_of<'a>(content: &'a mut Vec<Value>, event: &Value) -> Option<&'a mut Value> {
    let of_index = content.iter().rposition(|block| block[INDEX] == event["index"]);
    let last = content.len().checked_sub(1).filter(|_| event["index"].is_null());
    match of_index.or(last) {
        Some(known) => content.get_mut(known),
        None => {
            let (kind, key) = match event["delta"]["type"].as_str()? {
                "text_delta" => ("text", "text"),
                "thinking_delta" => ("thinking", "thinking"),
                _ => return None,
            };
            add_entry(content, json!({ "type": kind, key: "", INDEX: event["index"] }))
        }
    }
}

fn grow(block: &mut Value, delta: &Value) -> Option<Delta> {
    let text = |key: &str| delta[key].as_str().unwrap_or_default();
    match delta["type"].as_str()? {
        "text_delta" => {
            append(member(block, "text"), text("text"));
            words(&delta["text"]).map(|text| Delta::Text(text.to_owned()))
        }
        "thinking_delta" => {
            append(member(block, "thinking"), text("thinking"));
            words(&delta["thinking"]).map(|text| Delta::Thought(text.to_owned()))
        }
        "signature_delta" => {
            append(member(block, "signature"), text("signature"));
            None
        }
        "input_json_delta" => {
            append(member(block, INPUT), text("partial_json"));
            None
        }
        "citations_delta" => {
            list(member(block, "citations")).push(delta["citation"].clone());
            None
        }
        _ => {
            for (key, value) in delta.as_object()?.iter().filter(|(key, _)| *key != "type") {
                merge(member(block, key), key, value);
            }
            None
        }
    }
}

/// The members of the message that are known at its end.
fn end(response: &mut Value, event: &Value) {
    for (key, value) in event["delta"].as_object().into_iter().flatten() {
        *member(response, key) = value.clone();
    }
    for (key, value) in event["usage"].as_object().into_iter().flatten() {
        if !value.is_null() {
            *member(member(response, "usage"), key) = value.clone();
        }
    }
}

/// Parses the inputs of calls. One that was cut off stays a string, as the model wrote it.
pub(super) fn finish(response: &mut Value) {
    if !response["content"].is_array() {
        return;
    }
    remove_indexes(response.get_mut("content"));
    for block in list(member(response, "content")) {
        let Some(Value::String(text)) = block.as_object_mut().and_then(|b| b.shift_remove(INPUT))
        else {
            continue;
        };
        if !text.is_empty() {
            block["input"] = serde_json::from_str(&text).unwrap_or(Value::String(text));
        }
    }
}
