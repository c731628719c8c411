//! JSON-RPC messages of the server.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tool_runtime_core::vocabulary::error::ProtocolError;

/// The result of a request.
pub(super) type Outcome = Result<Value, ProtocolError>;

/// A notification of the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Notification {
    /// The method, such as `notifications/progress`.
    pub method: String,
    /// The parameters; null without any.
    pub params: Value,
}

/// A message of the server.
pub(super) enum Message {
    Answer { id: Value, outcome: Outcome },
    Request { id: Value, method: String, params: Value },
    Notification(Notification),
}

#[derive(Deserialize)]
struct Line {
    jsonrpc: String,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    error: Option<Failure>,
}

/// A JSON-RPC error object.
#[derive(Deserialize)]
pub(super) struct Failure {
    code: i32,
    message: String,
    #[serde(default)]
    data: Option<Value>,
}

/// Distinguishes null from an absent member.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// # Errors
/// The line is not a message of JSON-RPC 2.0.
pub(super) fn parse(line: &str) -> Result<Message, String> {
    let parsed: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if parsed.jsonrpc != "2.0" {
        return Err("it is not of version 2.0".to_owned());
    }
    match (parsed.id, parsed.method, parsed.result, parsed.error) {
        (Some(id), Some(method), None, None) => {
            Ok(Message::Request { id, method, params: parsed.params })
        }
        (None, Some(method), None, None) => {
            Ok(Message::Notification(Notification { method, params: parsed.params }))
        }
        (Some(id), None, Some(result), None) => Ok(Message::Answer { id, outcome: Ok(result) }),
        (Some(id), None, None, Some(failure)) => {
            Ok(Message::Answer { id, outcome: Err(failure.into()) })
        }
        _ => Err("it is neither a request nor a notification nor an answer".to_owned()),
    }
}

impl From<Failure> for ProtocolError {
    fn from(failure: Failure) -> Self {
        let error = Self::new(failure.code, failure.message);
        match failure.data {
            Some(data) => error.with_data(data),
            None => error,
        }
    }
}
