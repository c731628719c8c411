//! Answers to messages that no handler will see.

use rmcp::model::{ConstString, ErrorCode, ErrorData, JsonRpcVersion2_0, RequestId};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::methods::is_known_method;
use super::present::present;

/// An error response. Not rmcp's type, which leaves an unknown `id` out where JSON-RPC wants
/// `null`, and cannot repeat an id that is no 64-bit integer.
#[derive(Debug, Serialize)]
pub(crate) struct Refusal {
    jsonrpc: JsonRpcVersion2_0,
    id: Option<Box<RawValue>>,
    error: ErrorData,
}

/// A message by its parts, none of them checked.
#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

impl Refusal {
    /// An error that belongs to `id`, or to no request we could make out.
    pub(crate) fn new(id: Option<&RawValue>, error: ErrorData) -> Self {
        Self { jsonrpc: JsonRpcVersion2_0, id: id.map(ToOwned::to_owned), error }
    }

    /// An error that answers the request with this id.
    pub(crate) fn to(id: &RequestId, error: ErrorData) -> Self {
        Self { jsonrpc: JsonRpcVersion2_0, id: to_raw_value(id).ok(), error }
    }

    /// The line has more than `limit` bytes.
    pub(super) fn too_long(limit: usize) -> Self {
        let text = format!("the message is longer than the limit of {limit} bytes");
        Self::new(None, ErrorData::invalid_request(text, None))
    }

    /// The line is not text.
    pub(crate) fn not_utf8() -> Self {
        let text = "the message is not valid UTF-8";
        Self::new(None, ErrorData::parse_error(text, None))
    }

    /// The line is not JSON.
    pub(crate) fn not_json(error: &serde_json::Error) -> Self {
        let text = format!("the message is not valid JSON: {error}");
        Self::new(None, ErrorData::parse_error(text, None))
    }

    /// The line is JSON that JSON-RPC 2.0, or this protocol's use of it, does not allow.
    fn not_a_message(id: Option<&RawValue>, text: &'static str) -> Self {
        Self::new(id, ErrorData::invalid_request(text, None))
    }

    /// A request rmcp has no type for: wrong parameters, or a method with unusable ones.
    fn request(id: &RawValue, method: String) -> Self {
        let error = if is_known_method(&method) {
            let text = format!("`params` do not fit `{method}`: send an object as it defines");
            ErrorData::invalid_params(text, None)
        } else {
            // The text is the method's name, as in rmcp's own answer to unknown methods.
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
        };
        Self::new(Some(id), error)
    }
}

/// Finds out what is wrong with a line rmcp does not take.
///
/// `None` means silence: it is a notification, and those are never answered.
pub(crate) fn diagnose(text: &str) -> Option<Refusal> {
    if let Err(error) = serde_json::from_str::<&RawValue>(text) {
        return Some(Refusal::not_json(&error));
    }
    if text.starts_with('[') {
        let text = "batches are not supported: send each message on a line of its own";
        return Some(Refusal::not_a_message(None, text));
    }
    match serde_json::from_str::<Parts<'_>>(text) {
        Ok(parts) => diagnose_parts(&parts),
        Err(_) => {
            let text = "not a JSON-RPC message: expected an object whose members are unique";
            Some(Refusal::not_a_message(None, text))
        }
    }
}

/// The same for an object.
fn diagnose_parts(parts: &Parts<'_>) -> Option<Refusal> {
    let id = parts.id.filter(|id| is_string_or_number(id));
    if parts.result.is_some() || parts.error.is_some() {
        // The id of a response is one of ours: repeating it would look like an answer to the
        // peer's request of the same number.
        let text = "not a JSON-RPC response: expected an `id` and either `result` or `error`";
        return Some(Refusal::not_a_message(None, text));
    }
    if text_of(parts.jsonrpc).as_deref() != Some(JsonRpcVersion2_0::VALUE) {
        let text = "not a JSON-RPC 2.0 message: expected `\"jsonrpc\": \"2.0\"`";
        return Some(Refusal::not_a_message(id, text));
    }
    let Some(method) = text_of(parts.method) else {
        let text = "not a JSON-RPC message: expected a `method` that is a string";
        return Some(Refusal::not_a_message(id, text));
    };
    diagnose_call(parts.id, id, method)
}

/// The same for an object with a method: a notification when it has no id at all.
fn diagnose_call(
    present: Option<&RawValue>,
    usable: Option<&RawValue>,
    method: String,
) -> Option<Refusal> {
    if present.is_none() {
        tracing::debug!(method, "ignoring a notification with unusable parameters");
        return None;
    }
    let Some(id) = usable else {
        let text = "not a JSON-RPC request: expected an `id` that is a string or a number";
        return Some(Refusal::not_a_message(None, text));
    };
    Some(Refusal::request(id, method))
}

/// Whether a value can be an `id`; judged by its first byte, since it is known to be JSON.
fn is_string_or_number(value: &RawValue) -> bool {
    matches!(value.get().as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'))
}

/// The text of a member that is a string.
fn text_of(value: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(value?.get()).ok()
}
