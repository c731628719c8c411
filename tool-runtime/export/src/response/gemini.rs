//! Gemini: a response is a content of parts. Its calls may have no id; their results follow in the same order.

use super::call::{call, given_id, object, request_name};
use super::{finish_reason_of, joined, lacking};
use crate::api::Api;
use serde_json::{Value, json};
use tool_runtime_core::tool::ToolCall;
use tool_runtime_core::tool::export::{FinishReason, ImportError};

/// The parts. A candidate without content was cut before its first token.
fn parts(response: &Value) -> Result<&[Value], ImportError> {
    let candidate = response.pointer("/candidates/0").ok_or_else(|| no_candidate(response))?;
    let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
    Ok(parts.map(Vec::as_slice).unwrap_or_default())
}

fn no_candidate(response: &Value) -> ImportError {
    match response["promptFeedback"]["blockReason"].as_str() {
        Some(reason) => {
            let text = format!("it has no `/candidates/0`: the request was blocked (`{reason}`)");
            ImportError::new("Gemini", text)
        }
        None => lacking(response, "Gemini", "/candidates/0"),
    }
}

pub(super) fn calls(response: &Value) -> Result<Vec<ToolCall>, ImportError> {
    let calls = parts(response)?.iter().filter_map(|part| part.get("functionCall"));
    let read = |given: &Value| {
        call(given_id(&given["id"]).unwrap_or_default(), &given["name"], &given["args"])
    };
    Ok(calls.map(read).collect())
}

pub(super) fn text(response: &Value) -> Result<String, ImportError> {
    Ok(joined(parts(response)?, |part| part["thought"] != true))
}

pub(super) fn finish_reason(response: &Value) -> FinishReason {
    let candidate = &response["candidates"][0];
    match finish_reason_of(&candidate["finishReason"]) {
        FinishReason::MalformedCall(word) => {
            let told = candidate["finishMessage"].as_str().map(str::to_owned);
            FinishReason::MalformedCall(told.unwrap_or(word))
        }
        FinishReason::Complete => match response["promptFeedback"]["blockReason"].as_str() {
            Some(reason) => FinishReason::Filtered(reason.to_owned()),
            None => FinishReason::Complete,
        },
        other => other,
    }
}

pub(super) fn messages(response: &Value) -> Result<Vec<Value>, ImportError> {
    let parts: Vec<Value> =
        parts(response)?.iter().filter(|part| says_something(part)).map(repeated).collect();
    if parts.is_empty() {
        // An empty message is rejected.
        return Ok(Vec::new());
    }
    let mut content = response["candidates"][0]["content"].clone();
    content["parts"] = Value::Array(parts);
    if !content["role"].is_string() {
        content["role"] = json!("model");
    }
    Ok(vec![content])
}

/// Whether a part is more than an empty text. A signature may stand next to one.
fn says_something(part: &Value) -> bool {
    let Some(members) = part.as_object() else { return false };
    members.iter().any(|(key, value)| match key.as_str() {
        "thought" => false,
        "text" => *value != "",
        _ => !value.is_null(),
    })
}

/// A part as a request takes it.
fn repeated(part: &Value) -> Value {
    let mut part = part.clone();
    if let Some(call) = part.get_mut("functionCall").filter(|call| call.is_object()) {
        let name = call["name"].as_str().unwrap_or_default();
        call["name"] = json!(request_name(Api::Gemini, name));
        if !call["args"].is_null() {
            call["args"] = Value::Object(object(&call["args"]));
        }
    }
    part
}
