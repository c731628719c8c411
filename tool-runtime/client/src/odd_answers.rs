//! Answers that depart from JSON-RPC. Where the meaning is clear they are read; otherwise the reason says what the server
//! sent.

use super::in_words::in_words;
use super::recovery::Incoming;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use serde_json::{Map, Value, json};

/// Whether an answer has the id of a request. Some servers answer with the number as a string.
pub(super) fn is_same_id(ours: &RequestId, theirs: &RequestId) -> bool {
    match (ours, theirs) {
        (RequestId::Number(ours), RequestId::String(theirs)) => theirs.parse() == Ok(*ours),
        _ => ours == theirs,
    }
}

/// Reads an answer without `jsonrpc`, with an id like `1.0`, with `"result": null` and an error, or with an error whose
/// code or message is missing or of another type. `None` for what is not an answer.
///
/// # Errors
/// Its id, if it can be read, and what it is instead of an answer.
pub(super) fn read(message: &Value) -> Option<Result<Incoming, (RequestId, String)>> {
    let members = message.as_object().filter(|members| !members.contains_key("method"))?;
    let id = id(members.get("id")?)?;
    Some(match (members.get("error"), members.get("result")) {
        (Some(error), None | Some(Value::Null)) if !error.is_null() => match self::error(error) {
            Some(error) => Ok(JsonRpcMessage::error(error, Some(id))),
            None => Err((id, format!("its error is {}", in_words(error)))),
        },
        (_, Some(result)) => response(&id, result),
        (Some(_), None) => Err((id, "its error is null".to_owned())),
        (None, None) => Err((id, "it has neither `result` nor `error`".to_owned())),
    })
}

fn response(id: &RequestId, result: &Value) -> Result<Incoming, (RequestId, String)> {
    let message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    serde_json::from_value(message).map_err(|error| (id.clone(), error.to_string()))
}

/// An id: a string, or a whole number, which some servers write as `1.0`.
#[expect(clippy::cast_possible_truncation, reason = "the number is whole and below 2^53")]
fn id(id: &Value) -> Option<RequestId> {
    let whole = |number: f64| number.fract() == 0.0 && number.abs() < 9e15;
    match id {
        Value::String(text) => Some(RequestId::String(text.as_str().into())),
        Value::Number(number) => {
            let float = || number.as_f64().filter(|number| whole(*number));
            Some(RequestId::Number(number.as_i64().or_else(|| Some(float()? as i64))?))
        }
        _ => None,
    }
}

/// An error that has at least a code or a message.
fn error(error: &Value) -> Option<ErrorData> {
    let members = error.as_object()?;
    let code = members.get("code").and_then(code);
    let message = match members.get("message") {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let text = message.or_else(|| without_message(members, code))?;
    let data = members.get("data").filter(|data| !data.is_null()).cloned();
    Some(ErrorData::new(code.unwrap_or(ErrorCode::INTERNAL_ERROR), text, data))
}

fn without_message(members: &Map<String, Value>, code: Option<ErrorCode>) -> Option<String> {
    let code = members.get("code").filter(|_| code.is_some())?;
    let code = code.as_str().map_or_else(|| code.to_string(), str::to_owned);
    let rest = match members.get("message") {
        None | Some(Value::Null) => "without a message".to_owned(),
        Some(other) => format!("whose message is {}", in_words(other)),
    };
    Some(format!("the error {code} {rest}"))
}

fn code(code: &Value) -> Option<ErrorCode> {
    let number = match code {
        Value::String(text) => text.trim().parse().ok()?,
        other => other.as_i64()?,
    };
    i32::try_from(number).ok().map(ErrorCode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::JsonRpcError;

    fn rejection(error: Value) -> (i32, String) {
        match read(&json!({ "id": 1.0, "result": null, "error": error })) {
            Some(Ok(JsonRpcMessage::Error(JsonRpcError { id, error, .. }))) => {
                assert_eq!(id, Some(RequestId::Number(1)));
                (error.code.0, error.message.into_owned())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_error_is_read_with_what_it_has() {
        for (error, code, message) in [
            (json!({ "code": -32601, "message": "no" }), -32601, "no"),
            (json!({ "code": "-32601", "message": "no" }), -32601, "no"),
            (json!({ "code": "E_DOWN", "message": "no" }), -32603, "no"),
            (json!({ "message": "no" }), -32603, "no"),
            (json!({ "code": -5 }), -5, "the error -5 without a message"),
            (
                json!({ "code": -5, "message": {} }),
                -5,
                "the error -5 whose message is an empty object",
            ),
        ] {
            assert_eq!(rejection(error), (code, message.to_owned()));
        }
    }

    #[test]
    fn an_answer_without_a_version_is_read() {
        let answer = read(&json!({ "id": "1", "result": { "content": [] } })).unwrap().unwrap();
        assert!(matches!(answer, JsonRpcMessage::Response(answer) if answer.id.to_string() == "1"));
    }

    #[test]
    fn what_has_no_meaning_is_described() {
        for (message, words) in [
            (json!({ "id": 1, "error": "boom" }), "its error is the string \"boom\""),
            (json!({ "id": 1, "error": {} }), "its error is an empty object"),
            (json!({ "id": 1, "error": null }), "its error is null"),
            (json!({ "id": 1 }), "it has neither `result` nor `error`"),
        ] {
            let (id, given) = read(&message).unwrap().unwrap_err();
            assert_eq!((id, &*given), (RequestId::Number(1), words));
        }
        for message in [json!({ "id": 1, "method": "ping" }), json!({ "error": {} }), json!(1)] {
            assert!(read(&message).is_none(), "{message}");
        }
    }
}
