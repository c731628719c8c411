//! Passes results through rmcp verbatim.
//!
//! rmcp parses an answer by trying all of its types, and drops members that they lack. Results of calls and lists of
//! tools pass as values instead. Where rmcp parses the text itself, the value is wrapped, so that no type matches.

use rmcp::RoleClient;
use rmcp::model::{
    CustomResult, DetailedTask, GetTaskResult, JsonRpcMessage, RequestId, ServerResult, TaskPayload,
};
use rmcp::service::RxJsonRpcMessage;
use serde::Deserialize;
#[cfg(feature = "http")]
use serde_json::json;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tool_runtime_mcp::numbers::has_long_integer;

/// The member of a wrapped result.
const WRAPPED: &str = "tool-runtime/verbatim";

/// The member with the text of a structured value whose integers exceed 64 bits, which a `Value` does not keep.
pub(super) const EXACT: &str = "tool-runtime/exact";

/// The method of a request whose result is kept verbatim.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Call,
    List,
}

/// A JSON-RPC response.
#[derive(Deserialize)]
pub(super) struct Answer<'a> {
    pub(super) id: RequestId,
    #[serde(borrow)]
    pub(super) result: &'a RawValue,
}

/// Whether a value is the result of a call.
pub(super) fn is_result(value: &Value) -> bool {
    let is_member = |key: &&str| value.get(key).is_some();
    is_complete(value) && ["content", "structuredContent", "isError"].iter().any(is_member)
}

/// Whether a result ends its request: its `resultType` is `complete`, null or missing.
pub(super) fn is_complete(value: &Value) -> bool {
    value.get("resultType").is_none_or(|kind| kind.is_null() || kind == "complete")
}

/// A complete result as a value. `None` for other results.
pub(super) fn result(text: &RawValue, method: Method) -> Option<ServerResult> {
    let mut value: Value = serde_json::from_str(text.get()).ok()?;
    if let (Method::Call, Value::Object(members)) = (method, &mut value) {
        keep_exact(members, text);
    }
    is_verbatim(&value, method).then_some(ServerResult::CustomResult(CustomResult(value)))
}

/// Keeps the text of a structured value, if it has integers of more than 64 bits.
fn keep_exact(members: &mut Map<String, Value>, text: &RawValue) {
    #[derive(Deserialize)]
    struct Result<'a> {
        #[serde(borrow, rename = "structuredContent")]
        structured: &'a RawValue,
    }
    if members.contains_key("structuredContent")
        && has_long_integer(text.get())
        && let Ok(result) = serde_json::from_str::<Result<'_>>(text.get())
    {
        members.insert(EXACT.to_owned(), result.structured.get().into());
    }
}

/// Keeps the text of a structured value in the result of a task, given the text of the message.
pub(super) fn keep_exact_of_task(message: &mut RxJsonRpcMessage<RoleClient>, text: &[u8]) {
    #[derive(Deserialize)]
    struct Task<'a> {
        #[serde(borrow)]
        result: &'a RawValue,
    }
    if let JsonRpcMessage::Response(response) = message
        && let ServerResult::GetTaskResult(GetTaskResult { task, .. }) = &mut response.result
        && let DetailedTask { payload: TaskPayload::Completed { result }, .. } = task
        && let Ok(answer) = serde_json::from_slice::<Answer<'_>>(text)
        && let Ok(task) = serde_json::from_str::<Task<'_>>(answer.result.get())
    {
        keep_exact(result, task.result);
    }
}

fn is_verbatim(value: &Value, method: Method) -> bool {
    match method {
        Method::Call => is_result(value),
        Method::List => is_complete(value) && value.get("tools").is_some_and(Value::is_array),
    }
}

/// The text of an answer with its result wrapped. `None` for other results.
#[cfg(feature = "http")]
pub(super) fn wrapped(text: &str, method: Method) -> Option<String> {
    let answer: Answer<'_> = serde_json::from_str(text).ok()?;
    let ServerResult::CustomResult(CustomResult(value)) = result(answer.result, method)? else {
        return None;
    };
    let message = json!({ "jsonrpc": "2.0", "id": answer.id, "result": { WRAPPED: value } });
    Some(message.to_string())
}

/// The value of a result, wrapped or not.
pub(super) fn inner(value: &Value) -> &Value {
    value.get(WRAPPED).unwrap_or(value)
}

/// The value of a result, wrapped or not.
pub(super) fn unwrapped(value: Value) -> Value {
    match value {
        Value::Object(mut members) if members.contains_key(WRAPPED) => {
            members.shift_remove(WRAPPED).unwrap_or_default()
        }
        value => value,
    }
}
