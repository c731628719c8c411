//! The calls of a model's answer.

use crate::api::Api;
use serde_json::{Map, Value, json};
use tool_runtime_core::{ImportError, ToolCall};

/// Reads the calls of an answer, with the names that the model wrote.
pub(crate) fn calls(api: Api, answer: &Value) -> Result<Vec<ToolCall>, ImportError> {
    match api {
        Api::Mcp => Ok(vec![mcp_call(answer)?]),
        Api::Anthropic => {
            let blocks = list(answer, "Anthropic Messages", "/content")?;
            let is_call = |block: &&Value| block["type"] == "tool_use";
            Ok(blocks
                .iter()
                .filter(is_call)
                .map(|b| call(&b["id"], &b["name"], &b["input"]))
                .collect())
        }
        Api::OpenAiChat => {
            let message = &chat_message(answer)?["tool_calls"];
            let calls = message.as_array().map(Vec::as_slice).unwrap_or_default();
            let call = |item: &Value| {
                let function = &item["function"];
                call(&item["id"], &function["name"], &function["arguments"])
            };
            Ok(calls.iter().map(call).collect())
        }
        Api::OpenAiResponses => {
            let items = list(answer, "OpenAI Responses", "/output")?;
            let is_call = |item: &&Value| item["type"] == "function_call";
            let call = |item: &Value| call(&item["call_id"], &item["name"], &item["arguments"]);
            Ok(items.iter().filter(is_call).map(call).collect())
        }
        Api::Gemini => {
            let calls = gemini_parts(answer)?.iter().filter_map(|part| part.get("functionCall"));
            Ok(calls.map(|given| call(&given["id"], &given["name"], &given["args"])).collect())
        }
    }
}

/// The text of an answer, without the model's reasoning.
pub(crate) fn text(api: Api, answer: &Value) -> Result<String, ImportError> {
    let join = |blocks: &[Value], is_text: &dyn Fn(&Value) -> bool| -> String {
        blocks
            .iter()
            .filter(|block| is_text(block))
            .filter_map(|block| block["text"].as_str())
            .collect()
    };
    match api {
        Api::Mcp => Ok(String::new()),
        Api::Anthropic => {
            let blocks = list(answer, "Anthropic Messages", "/content")?;
            Ok(join(blocks, &|block| block["type"] == "text"))
        }
        Api::OpenAiChat => {
            let message = chat_message(answer)?;
            let text = message["content"].as_str().or(message["refusal"].as_str());
            Ok(text.unwrap_or_default().to_owned())
        }
        Api::OpenAiResponses => {
            let items = list(answer, "OpenAI Responses", "/output")?;
            let messages = items.iter().filter(|item| item["type"] == "message");
            let blocks = messages.filter_map(|item| item["content"].as_array());
            Ok(blocks.map(|blocks| join(blocks, &|block| block["type"] == "output_text")).collect())
        }
        Api::Gemini => Ok(join(gemini_parts(answer)?, &|part| part["thought"] != true)),
    }
}

/// The messages of an answer, for the next request.
pub(crate) fn answer_messages(api: Api, answer: &Value) -> Result<Vec<Value>, ImportError> {
    match api {
        Api::Mcp => Ok(Vec::new()),
        Api::Anthropic => {
            let mut content = list(answer, "Anthropic Messages", "/content")?.to_vec();
            for call in content.iter_mut().filter(|block| block["type"] == "tool_use") {
                // Requests accept only objects; the result explains the invalid text.
                if !call["input"].is_object() {
                    call["input"] = json!({});
                }
            }
            // An empty message is rejected.
            let message = json!({ "role": "assistant", "content": content });
            Ok(if content.is_empty() { Vec::new() } else { vec![message] })
        }
        Api::OpenAiChat => {
            let mut message = chat_message(answer)?.clone();
            // Members of answers that requests do not take.
            for (key, default) in [("refusal", Value::Null), ("annotations", json!([]))] {
                if let Some(members) = message.as_object_mut()
                    && members.get(key).is_some_and(|value| *value == default)
                {
                    members.remove(key);
                }
            }
            Ok(vec![message])
        }
        Api::OpenAiResponses => Ok(list(answer, "OpenAI Responses", "/output")?.to_vec()),
        Api::Gemini => {
            let parts = gemini_parts(answer)?;
            let message = json!({ "role": "model", "parts": parts });
            Ok(if parts.is_empty() { Vec::new() } else { vec![message] })
        }
    }
}

fn mcp_call(answer: &Value) -> Result<ToolCall, ImportError> {
    let params = answer.get("params").unwrap_or(answer);
    if !params["name"].is_string() {
        return Err(ImportError::new("MCP", "it has no `name`"));
    }
    Ok(call(answer.get("id").unwrap_or(&Value::Null), &params["name"], &params["arguments"]))
}

/// Converts a call. A string contains the arguments as JSON; `null` means no arguments.
fn call(id: &Value, name: &Value, arguments: &Value) -> ToolCall {
    let arguments = match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let id = match id {
        Value::Null => String::new(),
        Value::String(id) => id.clone(),
        other => other.to_string(),
    };
    ToolCall::new(name.as_str().unwrap_or_default(), arguments).with_call_id(id)
}

fn list<'a>(answer: &'a Value, api: &'static str, at: &str) -> Result<&'a [Value], ImportError> {
    let found = answer.pointer(at).and_then(Value::as_array);
    found.map(Vec::as_slice).ok_or_else(|| lacking(answer, api, at))
}

fn chat_message(answer: &Value) -> Result<&Value, ImportError> {
    let message = answer.pointer("/choices/0/message").filter(|message| message.is_object());
    message.ok_or_else(|| lacking(answer, "OpenAI Chat Completions", "/choices/0/message"))
}

/// A candidate without content was truncated before its first token.
fn gemini_parts(answer: &Value) -> Result<&[Value], ImportError> {
    let candidate = answer.pointer("/candidates/0");
    let candidate = candidate.ok_or_else(|| lacking(answer, "Gemini", "/candidates/0"))?;
    let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
    Ok(parts.map(Vec::as_slice).unwrap_or_default())
}

fn lacking(answer: &Value, api: &'static str, at: &str) -> ImportError {
    let error = answer.get("error").map(|error| match error["message"].as_str() {
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
