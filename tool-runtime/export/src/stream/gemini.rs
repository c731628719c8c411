//! Gemini: each event is a complete response, whose parts are appended to the earlier ones.

use super::{Delta, append, entry, member};
use serde_json::{Value, json};

pub(super) fn push(answer: &mut Value, is_ended: &mut bool, event: &Value) -> Option<Delta> {
    for key in ["usageMetadata", "modelVersion", "responseId", "promptFeedback"] {
        if !event[key].is_null() {
            *member(answer, key) = event[key].clone();
        }
    }
    // A request that is blocked has no candidates.
    *is_ended |= !event["promptFeedback"]["blockReason"].is_null();
    let candidate = event["candidates"].as_array()?.first()?;
    let target = entry(member(answer, "candidates"), 0)?;
    for (key, value) in candidate.as_object()? {
        if key != "content" {
            *member(target, key) = value.clone();
        }
    }
    *is_ended |= !candidate["finishReason"].is_null();
    let mut news = None;
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        news = add(member(target, "content"), part).or(news);
    }
    news
}

/// Texts of one kind are joined; a signature closes a text.
fn add(content: &mut Value, part: &Value) -> Option<Delta> {
    if !content["parts"].is_array() {
        *content = json!({ "role": "model", "parts": [] });
    }
    let parts = member(content, "parts").as_array_mut()?;
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
            if !part["thoughtSignature"].is_null() {
                *member(last, "thoughtSignature") = part["thoughtSignature"].clone();
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
