//! OpenAI Chat Completions: a response is a message with a list of calls.

use super::call::{call, ids, object_text, request_name};
use super::{joined, lacking};
use crate::api::Api;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use tool_runtime_core::tool::ToolCall;
use tool_runtime_core::tool::export::ImportError;

/// The message of the first choice. Some servers send its calls as another choice.
fn message(response: &Value) -> Result<Cow<'_, Map<String, Value>>, ImportError> {
    let message = response.pointer("/choices/0/message").and_then(Value::as_object);
    let message = message
        .ok_or_else(|| lacking(response, "OpenAI Chat Completions", "/choices/0/message"))?;
    let has_calls = |message: &Map<String, Value>| {
        message.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty())
    };
    let is_whole = has_calls(message) || response["choices"][0]["finish_reason"] == "stop";
    let others = response["choices"].as_array().into_iter().flatten().skip(1);
    let other = others.filter_map(|choice| choice["message"].as_object()).find(|it| has_calls(it));
    match other.filter(|_| !is_whole) {
        Some(other) => {
            let mut message = message.clone();
            message.insert("tool_calls".to_owned(), other["tool_calls"].clone());
            Ok(Cow::Owned(message))
        }
        None => Ok(Cow::Borrowed(message)),
    }
}

/// The calls of a message, with their ids.
fn items(response: &Value, message: &Map<String, Value>) -> Vec<(Value, String)> {
    let items = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let items: Vec<Value> = items.filter(|item| item.is_object()).cloned().collect();
    let ids = ids(response, items.iter().map(|item| &item["id"]));
    items.into_iter().zip(ids).collect()
}

pub(super) fn calls(response: &Value) -> Result<Vec<ToolCall>, ImportError> {
    let items = items(response, &*message(response)?).into_iter();
    let calls = items.map(|(item, id)| {
        let function = &item["function"];
        call(id, &function["name"], &function["arguments"])
    });
    Ok(calls.collect())
}

pub(super) fn text(response: &Value) -> Result<String, ImportError> {
    let message = message(response)?;
    let text = |key: &str| message.get(key).and_then(Value::as_str).map(str::to_owned);
    // Some servers, Mistral's for instance, write a list of parts.
    let parts = message.get("content").and_then(Value::as_array);
    let parts = parts.map(|parts| joined(parts, |part| part["type"] == "text"));
    Ok(text("content").or(parts).or_else(|| text("refusal")).unwrap_or_default())
}

pub(super) fn messages(response: &Value) -> Result<Vec<Value>, ImportError> {
    let given = message(response)?;
    let calls: Vec<Value> = items(response, &given).into_iter().map(repeated).collect();
    let mut message = given.into_owned();
    if message.get("role").and_then(Value::as_str).is_none_or(str::is_empty) {
        message.insert("role".to_owned(), json!("assistant"));
    }
    let content = message.remove("content").map_or(Value::Null, with_words);
    // Requests reject empty lists, and some members of responses that are null.
    message.retain(|key, value| key != "tool_calls" && !value.is_null() && *value != json!([]));
    let is_empty = content.is_null() && calls.is_empty();
    message.insert("content".to_owned(), content);
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    let says_more = ["refusal", "audio"].iter().any(|key| message.contains_key(*key));
    Ok(if is_empty && !says_more { Vec::new() } else { vec![Value::Object(message)] })
}

/// The content of a message, without empty text. Null if nothing is left.
fn with_words(content: Value) -> Value {
    match content {
        Value::String(text) if text.is_empty() => Value::Null,
        Value::Array(mut parts) => {
            parts.retain(|part| part["type"] != "text" || part["text"] != "");
            if parts.is_empty() { Value::Null } else { Value::Array(parts) }
        }
        other => other,
    }
}

/// A call as a request takes it.
fn repeated((mut item, id): (Value, String)) -> Value {
    item["id"] = Value::String(id);
    if !item["type"].is_string() {
        item["type"] = json!("function");
    }
    if item["type"] != "function" && item["function"].is_null() {
        return item;
    }
    if !item["function"].is_object() {
        item["function"] = json!({});
    }
    let function = &mut item["function"];
    let name = function["name"].as_str().unwrap_or_default();
    function["name"] = json!(request_name(Api::OpenAiChat, name));
    function["arguments"] = object_text(&function["arguments"]);
    item
}
