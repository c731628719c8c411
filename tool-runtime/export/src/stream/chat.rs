//! OpenAI Chat Completions: deltas of a message. Servers that are compatible with OpenAI's differ in ids, indexes and
//! names of calls.

use super::merge::{grows, merge};
use super::{Delta, INDEX, add_entry, append, list, member, remove_indexes, words};
use serde_json::{Map, Value, json};

pub(super) fn push(response: &mut Value, is_ended: &mut bool, event: &Value) -> Vec<Delta> {
    for key in ["id", "model", "usage", "system_fingerprint", "service_tier"] {
        if !event[key].is_null() {
            *member(response, key) = event[key].clone();
        }
    }
    let is_first = |choice: &&Value| choice["index"].as_u64().unwrap_or_default() == 0;
    let choices = event["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
    choices.iter().filter(is_first).flat_map(|choice| add(response, is_ended, choice)).collect()
}

fn add(response: &mut Value, is_ended: &mut bool, choice: &Value) -> Vec<Delta> {
    let known = list(member(response, "choices"));
    if known.is_empty() {
        known.push(json!({}));
    }
    let target = &mut known[0];
    if let Some(reason) = words(&choice["finish_reason"]) {
        *member(target, "finish_reason") = json!(reason);
        *is_ended = true;
    }
    let message = member(target, "message");
    // Some servers repeat the whole message at the end.
    let is_whole = !choice["delta"].is_object() && choice["message"].is_object();
    if is_whole || !message.is_object() {
        *message = json!({ "role": "assistant", "content": null });
    }
    grow(message, if is_whole { &choice["message"] } else { &choice["delta"] })
}

fn grow(message: &mut Value, delta: &Value) -> Vec<Delta> {
    let mut news = Vec::new();
    for (key, value) in delta.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("tool_calls", Value::Array(calls)) => {
                for (index, call) in calls.iter().enumerate() {
                    news.extend(grow_call(list(member(message, key)), call, index > 0));
                }
            }
            ("tool_calls", _) | (_, Value::Null) => {}
            (_, Value::String(text)) if grows(key) && message[key].is_array() => {
                let part = json!([{ "type": "text", "text": text }]);
                merge(member(message, key), key, &part);
                news.extend(text_delta(key, text));
            }
            ("content", Value::Array(parts)) => {
                news.extend(
                    parts
                        .iter()
                        .filter(|part| part["type"] == "text")
                        .filter_map(|part| text_delta(key, words(&part["text"])?)),
                );
                if let Some(text) = message[key].as_str().map(str::to_owned) {
                    message[key] = if text.is_empty() {
                        json!([])
                    } else {
                        json!([{ "type": "text", "text": text }])
                    };
                }
                merge(member(message, key), key, value);
            }
            (_, value) => {
                merge(member(message, key), key, value);
                let text = words(value).filter(|_| grows(key));
                // Some servers write reasoning twice, under two names.
                news.extend(
                    text.and_then(|text| text_delta(key, text))
                        .filter(|delta| !news.contains(delta)),
                );
            }
        }
    }
    news
}

/// The change by a string of a member.
fn text_delta(key: &str, text: &str) -> Option<Delta> {
    match key {
        _ if text.is_empty() => None,
        "content" => Some(Delta::Text(text.to_owned())),
        "refusal" => None,
        _ => Some(Delta::Thought(text.to_owned())),
    }
}

/// Adds a delta of a call. Returns the name of a call that begins.
fn grow_call(calls: &mut Vec<Value>, delta: &Value, is_further: bool) -> Option<Delta> {
    let members = delta.as_object()?;
    let call = match continued(calls, delta, is_further) {
        Some(known) if is_repetition(&calls[known], delta) => return None,
        Some(known) => &mut calls[known],
        None => add_entry(calls, json!({}))?,
    };
    if !delta["index"].is_null() {
        *member(call, INDEX) = delta["index"].clone();
    }
    for (key, value) in members {
        match (key.as_str(), value) {
            ("index" | "function", _) => {}
            // Some servers change the id within a call.
            ("id", _) if id(call).is_some() => {}
            ("id", Value::Number(id)) => *member(call, "id") = json!(id.to_string()),
            ("id" | "type", value) if words(value).is_none() => {}
            _ => merge(member(call, key), key, value),
        }
    }
    if !call["type"].is_string() {
        *member(call, "type") = json!("function");
    }
    grow_function(member(call, "function"), delta["function"].as_object()?)
}

fn grow_function(function: &mut Value, delta: &Map<String, Value>) -> Option<Delta> {
    let mut began = None;
    for (key, value) in delta {
        match (key.as_str(), value) {
            (_, Value::Null) => {}
            ("arguments", Value::String(text)) => {
                let known = member(function, key);
                // Some servers begin with the arguments of a call that has none.
                if known == "{}" && !text.trim().is_empty() {
                    *known = json!("");
                }
                append(known, text);
            }
            // Some servers write the arguments as an object.
            ("arguments", whole) => append(member(function, key), &whole.to_string()),
            ("name", name) => {
                // Some servers repeat the name in each delta.
                if let Some(name) = words(name).filter(|name| function["name"] != **name) {
                    let known = member(function, key);
                    // Some servers repeat the name so far.
                    if known.as_str().is_some_and(|known| name.starts_with(known)) {
                        *known = json!("");
                    }
                    append(known, name);
                    began = Some(Delta::Call(name.to_owned()));
                }
            }
            _ => merge(member(function, key), key, value),
        }
    }
    began
}

/// The index of the call that a delta continues: that of its id, else that of its index, else the last. A delta without a
/// name begins a call only if both its id and its index are new.
fn continued(calls: &[Value], delta: &Value, is_further: bool) -> Option<usize> {
    let (id, name) = (id(delta), words(&delta["function"]["name"]));
    let by_id = || calls.iter().rposition(|call| id.is_some() && self::id(call) == id);
    let by_index = || {
        calls.iter().rposition(|call| !delta["index"].is_null() && call[INDEX] == delta["index"])
    };
    let has_index = !delta["index"].is_null();
    let is_anonymous = match name {
        Some(_) => id.is_none() && !has_index,
        None => id.is_none() || !has_index,
    };
    let last = || calls.len().checked_sub(1).filter(|_| is_anonymous);
    let known = by_id().or_else(by_index).or_else(last)?;
    // Two calls in one event that nothing tells apart.
    let is_own = is_further && name.is_some() && id.is_none() && delta["index"].is_null();
    (!is_own && !begins_another(&calls[known], delta)).then_some(known)
}

/// Whether a delta begins another call, in spite of an id or an index that an earlier one has.
fn begins_another(call: &Value, delta: &Value) -> bool {
    if is_repetition(call, delta) {
        return false;
    }
    let Some(name) = words(&delta["function"]["name"]) else { return false };
    let (known, delta_id) = (id(call), id(delta));
    if known.is_some() && delta_id.is_some() && known != delta_id {
        return true;
    }
    let Some(known_name) = words(&call["function"]["name"]) else { return false };
    let indexes = (&call[INDEX], &delta["index"]);
    let is_elsewhere = !indexes.0.is_null() && !indexes.1.is_null() && indexes.0 != indexes.1;
    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
    let has_more = match &delta["function"]["arguments"] {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        _ => true,
    };
    is_elsewhere || is_object(arguments) && has_more || !arguments.is_empty() && name != known_name
}

/// Whether a delta repeats a whole call.
fn is_repetition(call: &Value, delta: &Value) -> bool {
    let arguments = |call: &Value| call["function"]["arguments"].as_str().map(str::to_owned);
    let is_same = |key: &str| call["function"][key] == delta["function"][key];
    id(call).is_some()
        && id(call) == id(delta)
        && is_same("name")
        && is_same("arguments")
        && arguments(call).is_some_and(|text| is_object(&text))
}

fn is_object(arguments: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(arguments).is_ok()
}

/// The id of a call, as text.
fn id(call: &Value) -> Option<String> {
    match &call["id"] {
        Value::String(id) => Some(id.clone()).filter(|id| !id.is_empty()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Removes the members that only the stream has. Calls of a stream without a reason for its end may be cut.
pub(super) fn finish(response: &mut Value) {
    let choice = &mut member(response, "choices")[0];
    if words(&choice["finish_reason"]).is_none() {
        let calls = choice["message"]["tool_calls"].as_array().into_iter().flatten();
        let arguments = calls.map(|call| call["function"]["arguments"].as_str());
        if arguments.into_iter().any(|text| !text.is_some_and(is_object)) {
            choice["finish_reason"] = json!("incomplete");
        }
    }
    remove_indexes(response.pointer_mut("/choices/0/message/tool_calls"));
}
