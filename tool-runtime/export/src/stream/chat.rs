//! OpenAI Chat Completions: deltas of a message.

use super::{Delta, MAX_ENTRIES, append, entry, index, member};
use serde_json::{Value, json};

/// Members of a message that grow; servers that are compatible with OpenAI's add reasoning.
const TEXTS: [&str; 4] = ["content", "refusal", "reasoning_content", "reasoning"];

/// The index of a call in the stream, until the answer is whole.
const INDEX: &str = "index";

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
    let call = call_of(calls, delta)?;
    for key in ["id", "type"] {
        if let Some(text) = delta[key].as_str().filter(|text| !text.is_empty()) {
            *member(call, key) = json!(text);
        }
    }
    if !call["type"].is_string() {
        *member(call, "type") = json!("function");
    }
    let function = &delta["function"];
    match &function["arguments"] {
        Value::Null => {}
        Value::String(text) => append(member(member(call, "function"), "arguments"), text),
        // Some servers write the arguments as an object.
        whole => append(member(member(call, "function"), "arguments"), &whole.to_string()),
    }
    let name = function["name"].as_str().filter(|name| !name.is_empty())?;
    let known = member(member(call, "function"), "name");
    // Some servers repeat the name in each delta.
    if known == name {
        return None;
    }
    append(known, name);
    Some(Delta::Call(name.to_owned()))
}

/// The call that a delta belongs to. Some servers leave the index out, or give each call the index 0: a new id
/// begins a new call.
fn call_of<'a>(calls: &'a mut Value, delta: &Value) -> Option<&'a mut Value> {
    if !calls.is_array() {
        *calls = json!([]);
    }
    let (list, id) = (calls.as_array_mut()?, &delta["id"]);
    let names_call = id.as_str().is_some_and(|id| !id.is_empty());
    let is_meant = |call: &Value| match &delta["index"] {
        Value::Null => !names_call || call["id"] == *id,
        index => call[INDEX] == *index,
    };
    let is_other = |call: &Value| names_call && call["id"].is_string() && call["id"] != *id;
    let known = list.iter().rposition(is_meant).filter(|known| !is_other(&list[*known]));
    match known {
        Some(known) => list.get_mut(known),
        None if list.len() < MAX_ENTRIES && delta.is_object() => {
            list.push(json!({ INDEX: delta["index"] }));
            list.last_mut()
        }
        None => None,
    }
}

/// Removes the members that only the stream has.
pub(super) fn finish(answer: &mut Value) {
    let calls = answer.pointer_mut("/choices/0/message/tool_calls");
    for call in calls.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(call) = call.as_object_mut() {
            call.shift_remove(INDEX);
        }
    }
}
