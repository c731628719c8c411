//! OpenAI Chat Completions: deltas of a message.

use super::{Delta, append, entry, index, member};
use serde_json::{Value, json};

/// Members of a message that grow; servers that are compatible with OpenAI's add reasoning.
const TEXTS: [&str; 4] = ["content", "refusal", "reasoning_content", "reasoning"];

pub(super) fn push(answer: &mut Value, is_ended: &mut bool, event: &Value) -> Option<Delta> {
    for key in ["id", "model", "usage", "system_fingerprint", "service_tier"] {
        if !event[key].is_null() {
            *member(answer, key) = event[key].clone();
        }
    }
    let choice = event["choices"].as_array()?.iter().find(|choice| index(choice, "index") == 0)?;
    let target = entry(member(answer, "choices"), 0)?;
    if !member(target, "message").is_object() {
        *member(target, "message") = json!({ "role": "assistant", "content": null });
    }
    if !choice["finish_reason"].is_null() {
        *member(target, "finish_reason") = choice["finish_reason"].clone();
        *is_ended = true;
    }
    grow(member(target, "message"), &choice["delta"])
}

fn grow(message: &mut Value, delta: &Value) -> Option<Delta> {
    let mut news = None;
    for (key, value) in delta.as_object()? {
        match value {
            Value::String(text) if TEXTS.contains(&key.as_str()) => {
                append(member(message, key), text);
                news = match key.as_str() {
                    _ if text.is_empty() => news,
                    "content" => Some(Delta::Text(text.clone())),
                    "reasoning" | "reasoning_content" => Some(Delta::Thought(text.clone())),
                    _ => news,
                };
            }
            Value::Array(calls) if key == "tool_calls" => {
                for call in calls {
                    news = grow_call(member(message, "tool_calls"), call).or(news);
                }
            }
            Value::Null => {}
            other => *member(message, key) = other.clone(),
        }
    }
    news
}

fn grow_call(calls: &mut Value, delta: &Value) -> Option<Delta> {
    let call = entry(calls, index(delta, "index"))?;
    for key in ["id", "type"] {
        if let Some(text) = delta[key].as_str().filter(|text| !text.is_empty()) {
            *member(call, key) = json!(text);
        }
    }
    if !call["type"].is_string() {
        *member(call, "type") = json!("function");
    }
    let function = &delta["function"];
    if let Some(text) = function["arguments"].as_str() {
        append(member(member(call, "function"), "arguments"), text);
    }
    let name = function["name"].as_str().filter(|name| !name.is_empty())?;
    append(member(member(call, "function"), "name"), name);
    Some(Delta::Call(name.to_owned()))
}
