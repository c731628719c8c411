//! Error responses to invalid messages, which reach no handler.

use rmcp::RoleServer;
use rmcp::model::{
    ConstString, ErrorCode, ErrorData, JsonRpcMessage, JsonRpcVersion2_0, RequestId,
};
use rmcp::service::RxJsonRpcMessage;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;

use crate::double_option::double_option;
use crate::initialize::unusable_initialize;
use crate::methods::is_known_method;
use tool_runtime_core::seam::excerpt;

/// An error response. rmcp's own type omits an unknown `id`, where JSON-RPC requires `null`, and cannot
/// repeat an integer id of more than 64 bits.
#[derive(Debug, Serialize)]
pub(crate) struct Rejection {
    jsonrpc: JsonRpcVersion2_0,
    id: Option<Box<RawValue>>,
    error: Box<ErrorData>,
    /// The id of our request that the message responds to, if the message is a response.
    #[serde(skip)]
    question: Option<RequestId>,
}

/// The unchecked parts of a message.
#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow, default, deserialize_with = "double_option")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "double_option")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "double_option")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "double_option")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "double_option")]
    error: Option<&'a RawValue>,
}

/// The members that distinguish a response from a request.
#[derive(Deserialize)]
struct IdAndMethod<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<IgnoredAny>,
}

impl Rejection {
    /// The message of the error.
    #[cfg(feature = "http")]
    pub(crate) fn message(&self) -> &str {
        &self.error.message
    }

    /// An error for the request `id`, or without a known request. An id that a client cannot read back is
    /// not repeated.
    pub(crate) fn new(id: Option<&RawValue>, error: ErrorData) -> Self {
        let id = id.filter(|id| is_string_or_number(id)).map(ToOwned::to_owned);
        Self { jsonrpc: JsonRpcVersion2_0, id, error: error.into(), question: None }
    }

    /// An error for the request with this id.
    pub(crate) fn to(id: &RequestId, error: ErrorData) -> Self {
        let id = to_raw_value(id).ok();
        Self { jsonrpc: JsonRpcVersion2_0, id, error: error.into(), question: None }
    }

    /// The line has more than `limit` bytes.
    pub(crate) fn too_long(limit: usize) -> Self {
        let text = format!("the message is longer than the limit of {limit} bytes");
        Self::new(None, ErrorData::invalid_request(text, None))
    }

    /// The line is not valid UTF-8.
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

    /// Rejects an invalid response. The rejection has no id: with the id of our request, the peer would take
    /// it for the response to its own request with that id.
    fn answer(question: Option<&RawValue>, text: &'static str) -> Self {
        let question = question.and_then(|id| serde_json::from_str(id.get()).ok());
        Self { question, ..Self::not_a_message(None, text) }
    }

    /// An error response for the waiting tool, instead of the invalid response.
    pub(crate) fn failed_answer(&self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let question = self.question.clone()?;
        let error = ErrorData::internal_error("the answer is not a JSON-RPC response", None);
        Some(JsonRpcMessage::error(error, Some(question)))
    }

    /// A request that rmcp has no type for: invalid parameters, or an unknown method.
    fn request(id: &RawValue, method: &str) -> Self {
        let error = if is_known_method(method) {
            let text = format!("invalid `params`: send the object that MCP defines for `{method}`");
            ErrorData::invalid_params(text, None)
        } else {
            // The text is the method's name, as in rmcp's own answer to unknown methods.
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, excerpt(method).into_owned(), None)
        };
        Self::new(Some(id), error)
    }
}

/// The rejection of a line that rmcp does not accept; `None` for a notification, which is never
/// answered.
pub(crate) fn diagnose(line: &str) -> Option<Rejection> {
    if let Err(error) = serde_json::from_str::<&RawValue>(line) {
        return Some(Rejection::not_json(&error));
    }
    if line.starts_with('[') {
        let text = "batches are not supported: send each message on its own line";
        return Some(Rejection::not_a_message(None, text));
    }
    match serde_json::from_str::<Parts<'_>>(line) {
        Ok(parts) => diagnose_parts(&parts),
        Err(_) => {
            let text = "not a JSON-RPC message: expected an object whose members are unique";
            let parts = serde_json::from_str::<IdAndMethod<'_>>(line).ok();
            let answer = parts.filter(|parts| parts.method.is_none());
            Some(Rejection::answer(answer.and_then(|answer| answer.id), text))
        }
    }
}

/// The rejection of a message with parameters that rmcp would misunderstand.
pub(crate) fn unusable_params(line: &str) -> Option<Rejection> {
    unusable_cursor(line).or_else(|| unusable_initialize(line))
}

/// The rejection of a list request whose cursor is not a string: rmcp would ignore the cursor.
fn unusable_cursor(line: &str) -> Option<Rejection> {
    if !line.contains(r#""cursor""#) {
        return None;
    }
    let request = serde_json::from_str::<ListRequest<'_>>(line).ok()?;
    let is_list = request.method.ends_with("/list");
    let cursor = request.params?.cursor.filter(|_| is_list)?;
    serde_json::from_str::<Option<Cow<'_, str>>>(cursor.get()).is_err().then(|| {
        let text = "`cursor` must be a string: the `nextCursor` of an earlier response";
        Rejection::new(Some(request.id), ErrorData::invalid_params(text, None))
    })
}

#[derive(Deserialize)]
struct ListRequest<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Option<ListParams<'a>>,
}

#[derive(Deserialize)]
struct ListParams<'a> {
    #[serde(borrow)]
    cursor: Option<&'a RawValue>,
}

/// The rejection of a message that is a JSON object.
fn diagnose_parts(parts: &Parts<'_>) -> Option<Rejection> {
    let id = parts.id.filter(|id| is_string_or_number(id));
    if parts.method.is_none() {
        let text = "neither a JSON-RPC request, which has a `method`, nor a response, which has an `id` and either `result` or `error`";
        return Some(Rejection::answer(parts.id, text));
    }
    if parts.result.is_some() || parts.error.is_some() {
        let text = "not a JSON-RPC request: it has a `result` or an `error`";
        return Some(Rejection::not_a_message(None, text));
    }
    if text_of(parts.jsonrpc).as_deref() != Some(JsonRpcVersion2_0::VALUE) {
        let text = "not a JSON-RPC 2.0 message: expected `\"jsonrpc\": \"2.0\"`";
        return Some(Rejection::not_a_message(id, text));
    }
    let Some(method) = text_of(parts.method) else {
        let text = "not a JSON-RPC message: expected a `method` that is a string";
        return Some(Rejection::not_a_message(id, text));
    };
    diagnose_call(parts.id, id, &method)
}

/// The rejection of an object with a `method`; `None` for a notification, which has no `id`.
fn diagnose_call(
    present: Option<&RawValue>,
    usable: Option<&RawValue>,
    method: &str,
) -> Option<Rejection> {
    if present.is_none() {
        let method = &*excerpt(method);
        tracing::debug!(method, "ignoring a notification with unusable parameters");
        return None;
    }
    let Some(id) = usable else {
        let text = "not a JSON-RPC request: expected an `id` that is a string or a number";
        return Some(Rejection::not_a_message(None, text));
    };
    if serde_json::from_str::<RequestId>(id.get()).is_err() {
        let text = "not a usable `id`: expected a string or an integer of at most 64 bits";
        return Some(Rejection::not_a_message(Some(id), text));
    }
    Some(Rejection::request(id, method))
}

/// Whether a value can be an `id`. A number out of range (`1e999`) and a string with half of a surrogate
/// pair are JSON that most clients cannot read.
fn is_string_or_number(value: &RawValue) -> bool {
    let value = serde_json::from_str::<Value>(value.get());
    value.is_ok_and(|value| value.is_string() || value.is_number())
}

/// The text of a member that is a string.
fn text_of(value: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(value?.get()).ok()
}
