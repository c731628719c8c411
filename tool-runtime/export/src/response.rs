//! A model's response: its calls, its text, the reason why it ended, and the messages by which the next request repeats it.
//!
//! What an API sent is sent back unchanged, except for what the API would reject: calls without an id or with that of
//! another call, names and arguments that requests do not take, empty text. Calls and messages of one response always
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

/// Reads the calls of a response, with the names that the model wrote.
pub(crate) fn calls(api: Api, response: &Value) -> Result<Vec<ToolCall>, ImportError> {
    match api {
        Api::Mcp => Ok(vec![mcp_call(response)?]),
        Api::Anthropic => anthropic::calls(response),
        Api::OpenAiChat => chat::calls(response),
        Api::OpenAiResponses => responses::calls(response),
        Api::Gemini => gemini::calls(response),
    }
}

/// The text of a response, without the model's reasoning.
pub(crate) fn text(api: Api, response: &Value) -> Result<String, ImportError> {
    match api {
        Api::Mcp => Ok(String::new()),
        Api::Anthropic => anthropic::text(response),
        Api::OpenAiChat => chat::text(response),
        Api::OpenAiResponses => responses::text(response),
        Api::Gemini => gemini::text(response),
    }
}

/// The reason why the response ended.
pub(crate) fn finish_reason(api: Api, response: &Value) -> FinishReason {
    match api {
        Api::Mcp => FinishReason::Complete,
        Api::Anthropic => finish_reason_of(&response["stop_reason"]),
        Api::OpenAiChat => finish_reason_of(&response["choices"][0]["finish_reason"]),
        Api::OpenAiResponses => responses::finish_reason(response),
        Api::Gemini => gemini::finish_reason(response),
    }
}

fn finish_reason_of(word: &Value) -> FinishReason {
    FinishReason::from_word(word.as_str().unwrap_or_default())
}

/// The messages of a response, for the next request.
pub(crate) fn messages(api: Api, response: &Value) -> Result<Vec<Value>, ImportError> {
    match api {
        Api::Mcp => Ok(Vec::new()),
        Api::Anthropic => anthropic::messages(response),
        Api::OpenAiChat => chat::messages(response),
        Api::OpenAiResponses => responses::messages(response),
        Api::Gemini => gemini::messages(response),
    }
}

fn mcp_call(response: &Value) -> Result<ToolCall, ImportError> {
    let params = response.get("params").unwrap_or(response);
    if !params["name"].is_string() {
        return Err(ImportError::new("MCP", "it has no `name`"));
    }
    let id = call::given_id(&response["id"]).unwrap_or_default();
    Ok(call::call(id, &params["name"], &params["arguments"]))
}

/// The list at a path in a response.
fn list<'a>(response: &'a Value, api: &'static str, at: &str) -> Result<&'a [Value], ImportError> {
    let found = response.pointer(at).and_then(Value::as_array);
    found.map(Vec::as_slice).ok_or_else(|| lacking(response, api, at))
}

/// The text of the blocks that are of a type.
fn joined<'a>(blocks: impl IntoIterator<Item = &'a Value>, is_text: fn(&Value) -> bool) -> String {
    let texts = blocks.into_iter().filter(|block| is_text(block));
    texts.filter_map(|block| block["text"].as_str()).collect()
}

/// The error of a response without the part at a path. It has the message of the API, if the response is an error.
fn lacking(response: &Value, api: &'static str, at: &str) -> ImportError {
    let error = response.get("error").filter(|error| !error.is_null());
    let error = error.map(|error| match error["message"].as_str().or(error.as_str()) {
        Some(message) => format!("it is the error {message:?}"),
        None => format!("it is the error {error}"),
    });
    let keys = || match response {
        Value::Object(members) => keys_of(members),
        other => other.to_string().chars().take(80).collect(),
    };
    ImportError::new(api, error.unwrap_or_else(|| format!("it has no `{at}`, only {}", keys())))
}

fn keys_of(members: &Map<String, Value>) -> String {
    let keys: Vec<String> = members.keys().take(8).map(|key| format!("`{key}`")).collect();
    if keys.is_empty() { "no members".to_owned() } else { keys.join(", ") }
}
