//! Gemini: each event is a complete response, whose parts are appended to the earlier ones.

use super::{Delta, append, list, member, words};
use serde_json::{Value, json};

pub(super) fn push(response: &mut Value, is_ended: &mut bool, event: &Value) -> Vec<Delta> {
    for key in ["usageMetadata", "modelVersion", "responseId", "promptFeedback"] {
        if !event[key].is_null() {
            *member(response, key) = event[key].clone();
        }
    }
    // A request that is blocked has no candidates.
    *is_ended |= !event["promptFeedback"]["blockReason"].is_null();
    let candidates = event["candidates"].as_array();
    let Some(candidate) = candidates.and_then(|all| all.first()?.as_object()) else {
        return Vec::new();
    };
    let known = list(member(response, "candidates"));
    if known.is_empty() {
        known.push(json!({}));
    }
    let target = &mut known[0];
    for (key, value) in
        candidate.iter().filter(|(key, value)| *key != "content" && !value.is_null())
    {
        *member(target, key) = value.clone();
    }
    *is_ended |= candidate.get("finishReason").and_then(words).is_some();
    let parts = candidate.get("content").and_then(|content| content["parts"].as_array());
    let content = member(target, "content");
    parts.into_iter().flatten().filter_map(|part| add(content, part)).collect()
}

/// Text of one kind is joined; a signature closes a string.
fn add(content: &mut Value, part: &Value) -> Option<Delta> {
    if !content["parts"].is_array() {
        *content = json!({ "role": "model", "parts": [] });
    }
    let parts = list(member(content, "parts"));
    let is_text = |part: &Value| part["text"].is_string();
    let joins = |last: &&mut Value| {
        is_text(last)
            && is_text(part)
            && last["thought"] == part["thought"]
            && last["thoughtSignature"].is_null()
    };
    let text = part["text"].as_str().unwrap_or_default();
    match parts.last_mut().filter(joins) {
        Some(last) => {
            append(member(last, "text"), text);
            for (key, value) in part.as_object().into_iter().flatten() {
                if key != "text" && !value.is_null() {
                    *member(last, key) = value.clone();
                }
            }
        }
        None => parts.push(part.clone()),
    }
    if let Some(name) = part["functionCall"]["name"].as_str() {
        return Some(Delta::Call(name.to_owned()));
    }
    match (text, part["thought"] == true) {
        ("", _) => None,
        (text, true) => Some(Delta::Thought(text.to_owned())),
        (text, false) => Some(Delta::Text(text.to_owned())),
    }
}
