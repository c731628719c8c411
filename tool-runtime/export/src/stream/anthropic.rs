//! Anthropic Messages: blocks that grow by deltas.

use super::{Delta, append, entry, index, member};
use serde_json::{Value, json};

/// The unparsed input of a call, until its block is whole.
const INPUT: &str = "input_text";

pub(super) fn push(answer: &mut Value, is_ended: &mut bool, event: &Value) -> Option<Delta> {
    match event["type"].as_str()? {
        "message_start" => {
            *answer = event["message"].clone();
            None
        }
        "content_block_start" => {
            let block = event["content_block"].clone();
            let name = (block["type"] == "tool_use").then(|| block["name"].as_str()).flatten();
            let delta = name.map(|name| Delta::Call(name.to_owned()));
            *entry(member(answer, "content"), index(event, "index"))? = block;
            delta
        }
        "content_block_delta" => {
            let block = entry(member(answer, "content"), index(event, "index"))?;
            grow(block, &event["delta"])
        }
        "message_delta" => {
            for (key, value) in event["delta"].as_object()? {
                *member(answer, key) = value.clone();
            }
            for (key, value) in event["usage"].as_object()? {
                *member(member(answer, "usage"), key) = value.clone();
            }
            None
        }
        "message_stop" => {
            *is_ended = true;
            None
        }
        _ => None,
    }
}

fn grow(block: &mut Value, delta: &Value) -> Option<Delta> {
    let text = |key: &str| delta[key].as_str().unwrap_or_default();
    match delta["type"].as_str()? {
        "text_delta" => {
            append(member(block, "text"), text("text"));
            Some(Delta::Text(text("text").to_owned()))
        }
        "thinking_delta" => {
            append(member(block, "thinking"), text("thinking"));
            Some(Delta::Thought(text("thinking").to_owned()))
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
            let citations = member(block, "citations");
            if !citations.is_array() {
                *citations = json!([]);
            }
            citations.as_array_mut()?.push(delta["citation"].clone());
            None
        }
        _ => None,
    }
}

/// Parses the inputs of calls. One that was cut off stays a text, as the model wrote it. Blocks that never began
/// are left out.
pub(super) fn finish(answer: &mut Value) {
    if let Some(blocks) = answer["content"].as_array_mut() {
        blocks.retain(|block| block["type"].is_string());
    }
    for block in member(answer, "content").as_array_mut().into_iter().flatten() {
        let Some(Value::String(text)) = block.as_object_mut().and_then(|b| b.shift_remove(INPUT))
        else {
            continue;
        };
        if !text.is_empty() {
            block["input"] = serde_json::from_str(&text).unwrap_or(Value::String(text));
        }
    }
}
