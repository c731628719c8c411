//! A model's answer: its calls, its text, the reason why it ended, and the messages by which the next request repeats it.
//!
//! What an API sent is sent back unchanged, except for what the API would reject: calls without an id or with that of
//! another call, names and arguments that requests do not take, empty text. Calls and messages of one answer always
//! have the same ids.

mod anthropic;
mod call;
mod chat;
mod gemini;
mod responses;

pub(crate) use call::request_name;

use crate::api::Api;
use serde_json::{Map, Value};
use tool_runtime_core::tool::ToolCall;
use tool_runtime_core::tool::export::{FinishReason, ImportError};

/// Reads the calls of an answer, with the names that the model wrote.
pub(crate) fn calls(api: Api, answer: &Value) -> Result<Vec<ToolCall>, ImportError> {
    match api {
        Api::Mcp => Ok(vec![mcp_call(answer)?]),
        Api::Anthropic => anthropic::calls(answer),
        Api::OpenAiChat => chat::calls(answer),
        Api::OpenAiResponses => responses::calls(answer),
        Api::Gemini => gemini::calls(answer),
    }
}

/// The text of an answer, without the model's reasoning.
pub(crate) fn text(api: Api, answer: &Value) -> Result<String, ImportError> {
    match api {
        Api::Mcp => Ok(String::new()),
        Api::Anthropic => anthropic::text(answer),
        Api::OpenAiChat => chat::text(answer),
        Api::OpenAiResponses => responses::text(answer),
        Api::Gemini => gemini::text(answer),
    }
}

/// The reason why the answer ended.
pub(crate) fn finish_reason(api: Api, answer: &Value) -> FinishReason {
    match api {
        Api::Mcp => FinishReason::Complete,
        Api::Anthropic => finish_reason_of(&answer["stop_reason"]),
        Api::OpenAiChat => finish_reason_of(&answer["choices"][0]["finish_reason"]),
        Api::OpenAiResponses => responses::finish_reason(answer),
        Api::Gemini => gemini::finish_reason(answer),
    }
}

fn finish_reason_of(word: &Value) -> FinishReason {
    FinishReason::from_word(word.as_str().unwrap_or_default())
}

/// The messages of an answer, for the next request.
pub(crate) fn messages(api: Api, answer: &Value) -> Result<Vec<Value>, ImportError> {
    match api {
        Api::Mcp => Ok(Vec::new()),
        Api::Anthropic => anthropic::messages(answer),
        Api::OpenAiChat => chat::messages(answer),
        Api::OpenAiResponses => responses::messages(answer),
        Api::Gemini => gemini::messages(answer),
    }
}

fn mcp_call(answer: &Value) -> Result<ToolCall, ImportError> {
    let params = answer.get("params").unwrap_or(answer);
    if !params["name"].is_string() {
        return Err(ImportError::new("MCP", "it has no `name`"));
    }
    let id = call::given_id(&answer["id"]).unwrap_or_default();
    Ok(call::call(id, &params["name"], &params["arguments"]))
}

/// The list at a path in a response.
fn list<'a>(answer: &'a Value, api: &'static str, at: &str) -> Result<&'a [Value], ImportError> {
    let found = answer.pointer(at).and_then(Value::as_array);
    found.map(Vec::as_slice).ok_or_else(|| lacking(answer, api, at))
}

/// The text of the blocks that are of a type.
fn joined<'a>(blocks: impl IntoIterator<Item = &'a Value>, is_text: fn(&Value) -> bool) -> String {
    let texts = blocks.into_iter().filter(|block| is_text(block));
    texts.filter_map(|block| block["text"].as_str()).collect()
}

/// The error of a response without the part at a path. It has the message of the API, if the response is an error.
fn lacking(answer: &Value, api: &'static str, at: &str) -> ImportError {
    let error = answer.get("error").filter(|error| !error.is_null());
    let error = error.map(|error| match error["message"].as_str().or(error.as_str()) {
        Some(message) => format!("it is the error {message:?}"),
        None => format!("it is the error {error}"),
    });
    let keys = || match answer {
        Value::Object(members) => keys_of(members),
        other => other.to_string().chars().take(80).collect(),
    };
    ImportError::new(api, error.unwrap_or_else(|| format!("it has no `{at}`, only {}", keys())))
}

fn keys_of(members: &Map<String, Value>) -> String {
    let keys: Vec<String> = members.keys().take(8).map(|key| format!("`{key}`")).collect();
    if keys.is_empty() { "no members".to_owned() } else { keys.join(", ") }
}
