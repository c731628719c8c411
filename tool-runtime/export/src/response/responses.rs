//! OpenAI Responses: a response is a list of items.

use super::call::{call, ids, object_text, request_name};
use super::{finish_reason_of, list};
use crate::api::Api;
use serde_json::{Value, json};
use tool_runtime_core::tool::ToolCall;
use tool_runtime_core::tool::export::{FinishReason, ImportError};

fn items(response: &Value) -> Result<&[Value], ImportError> {
    list(response, "OpenAI Responses", "/output")
}

fn is_call(item: &&Value) -> bool {
    item["type"] == "function_call"
}

fn call_ids(response: &Value, items: &[Value]) -> Vec<String> {
    let given = |item: &'_ Value| {
        if item["call_id"].is_null() { item["id"].clone() } else { item["call_id"].clone() }
    };
    let given: Vec<Value> = items.iter().filter(is_call).map(given).collect();
    ids(response, given.iter())
}

pub(super) fn calls(response: &Value) -> Result<Vec<ToolCall>, ImportError> {
    let items = items(response)?;
    let ids = call_ids(response, items);
    let read = |(item, id): (&Value, String)| {
        let call = call(id, &item["name"], &item["arguments"]);
        match item["status"] == "incomplete" {
            true => call.with_cut("its status is `incomplete`"),
            false => call,
        }
    };
    Ok(items.iter().filter(is_call).zip(ids).map(read).collect())
}

pub(super) fn text(response: &Value) -> Result<String, ImportError> {
    let messages = items(response)?.iter().filter(|item| item["type"] == "message");
    Ok(messages.map(|item| words(&item["content"])).collect())
}

/// The words of a message.
fn words(content: &Value) -> String {
    let word = |part: &Value| match part["type"].as_str()? {
        "output_text" => part["text"].as_str().map(str::to_owned),
        "refusal" => part["refusal"].as_str().map(str::to_owned),
        _ => None,
    };
    match content {
        Value::Array(parts) => parts.iter().filter_map(word).collect(),
        whole => whole.as_str().unwrap_or_default().to_owned(),
    }
}

pub(super) fn finish_reason(response: &Value) -> FinishReason {
    if let Some(failure) = response["error"]["message"].as_str() {
        return FinishReason::Interrupted(failure.to_owned());
    }
    match &response["incomplete_details"]["reason"] {
        Value::Null => finish_reason_of(&response["status"]),
        reason => finish_reason_of(reason),
    }
}

pub(super) fn messages(response: &Value) -> Result<Vec<Value>, ImportError> {
    let items = items(response)?;
    let mut ids = call_ids(response, items).into_iter();
    let mut messages: Vec<Value> = items
        .iter()
        .filter(|item| item.is_object())
        .map(|item| match is_call(&item) {
            true => repeated(item, ids.next().unwrap_or_default()),
            false => item.clone(),
        })
        .collect();
    if response["store"] == false {
        forget(&mut messages);
    }
    // Reasoning that nothing follows is rejected.
    while messages.last().is_some_and(|item| item["type"] == "reasoning") {
        messages.pop();
    }
    Ok(messages)
}

/// Leaves out what the API would look up in a response that it did not store: reasoning that is not part of it, and the
/// ids of what followed.
fn forget(messages: &mut Vec<Value>) {
    let count = messages.len();
    messages.retain(|item| item["type"] != "reasoning" || !item["encrypted_content"].is_null());
    if messages.len() == count {
        return;
    }
    for item in messages.iter_mut().filter_map(Value::as_object_mut) {
        item.shift_remove("id");
    }
}

/// A call as a request takes it.
fn repeated(item: &Value, id: String) -> Value {
    let mut item = item.clone();
    item["call_id"] = Value::String(id);
    let name = item["name"].as_str().unwrap_or_default();
    item["name"] = json!(request_name(Api::OpenAiResponses, name));
    item["arguments"] = object_text(&item["arguments"]);
    item
}
