//! Recovers from messages that cannot be read: a caller that waits for one gets an error.

use super::odd_answers;
use rmcp::RoleClient;
use rmcp::model::{
    CustomResult, ErrorCode, ErrorData, JsonRpcMessage, JsonRpcResponse, RequestId, ServerResult,
};
use rmcp::service::RxJsonRpcMessage;
use serde::Deserialize;
use serde::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;

pub(super) type Incoming = RxJsonRpcMessage<RoleClient>;

/// The result of reading text that is not a message.
#[derive(Debug)]
pub(super) enum Recovered {
    /// One or more messages, in order.
    Messages(Vec<Incoming>),
    /// A message that cannot be read and that no caller waits for.
    Ignored,
    /// Output that is not meant as a message.
    Noise,
}

/// Reads a message. `is_call` returns whether an id is that of a call.
///
/// # Errors
/// The text is not a message; the error has the recovered parts.
pub(super) fn read(
    text: &[u8],
    is_call: &dyn Fn(&RequestId) -> bool,
) -> Result<Incoming, Recovered> {
    match serde_json::from_slice(text) {
        Ok(message) if is_odd(&message) => odd_answer(text, is_call).unwrap_or(Ok(message)),
        Ok(message) => Ok(message),
        Err(why) => odd_answer(text, is_call).unwrap_or_else(|| Err(recover(text, &why, is_call))),
    }
}

/// Whether a message was read although it departs from JSON-RPC: an error may come with a result that is null, and an
/// error without an id answers the only request.
pub(super) fn is_odd(message: &Incoming) -> bool {
    match message {
        JsonRpcMessage::Response(JsonRpcResponse {
            result: ServerResult::CustomResult(CustomResult(result)),
            ..
        }) => result.is_null(),
        JsonRpcMessage::Error(error) => error.id.is_none(),
        _ => false,
    }
}

/// Reads an answer that departs from JSON-RPC. `None` for other text.
#[cold]
fn odd_answer(
    text: &[u8],
    is_call: &dyn Fn(&RequestId) -> bool,
) -> Option<Result<Incoming, Recovered>> {
    let message: Value = serde_json::from_slice(text).ok()?;
    let answer = odd_answers::read(&message)?;
    Some(answer.map_err(|(id, why)| failed(id, &why, is_call)))
}

/// Reads text that is not a message, for the reason `why`. `is_call` returns whether an id is that of a call.
#[cold]
fn recover(
    text: &[u8],
    why: &serde_json::Error,
    is_call: &dyn Fn(&RequestId) -> bool,
) -> Recovered {
    tracing::debug!("a message cannot be read: {why}");
    if text.starts_with(b"[") {
        return batch(text, is_call);
    }
    match lossy_utf8(text).and_then(|text| serde_json::from_str(&text).ok()) {
        Some(message) => Recovered::Messages(vec![message]),
        None => fail_request(text, text, &why.to_string(), is_call),
    }
}

/// The error for the request that unreadable text answers, by the beginning and the end of the text.
#[cold]
pub(super) fn fail_request(
    head: &[u8],
    tail: &[u8],
    why: &str,
    is_call: &dyn Fn(&RequestId) -> bool,
) -> Recovered {
    let envelope = scan_envelope(&String::from_utf8_lossy(head), &String::from_utf8_lossy(tail));
    let Some(id) = envelope.id.filter(|_| envelope.is_message && !envelope.has_method) else {
        return if envelope.is_message { Recovered::Ignored } else { Recovered::Noise };
    };
    failed(id, why, is_call)
}

/// The error for a request whose answer cannot be read.
fn failed(id: RequestId, why: &str, is_call: &dyn Fn(&RequestId) -> bool) -> Recovered {
    let effect = if is_call(&id) { "; the call may have had its effect" } else { "" };
    let text = format!("its answer cannot be read: {why}{effect}");
    let error = ErrorData::new(ErrorCode::PARSE_ERROR, text, None);
    Recovered::Messages(vec![JsonRpcMessage::error(error, Some(id))])
}

/// Reads several messages in one line, as revision 2025-03-26 of MCP allows.
fn batch(text: &[u8], is_call: &dyn Fn(&RequestId) -> bool) -> Recovered {
    let Ok(parts) = serde_json::from_slice::<Vec<&RawValue>>(text) else { return Recovered::Noise };
    let (mut messages, mut is_message) = (Vec::new(), false);
    for part in parts.iter().map(|part| part.get()).filter(|part| !part.starts_with('[')) {
        let recovered = read(part.as_bytes(), is_call)
            .map_or_else(|recovered| recovered, |message| Recovered::Messages(vec![message]));
        is_message |= !matches!(recovered, Recovered::Noise);
        if let Recovered::Messages(more) = recovered {
            messages.extend(more);
        }
    }
    match is_message {
        true if !messages.is_empty() => Recovered::Messages(messages),
        true => Recovered::Ignored,
        false => Recovered::Noise,
    }
}

/// The length of an escape: `\ud800`.
const ESCAPE: usize = 6;

/// The text with U+FFFD for invalid UTF-8 and for unpaired surrogates, which JavaScript and Python write
/// where they cut text. `None` if there is nothing to replace.
fn lossy_utf8(text: &[u8]) -> Option<String> {
    let lossy = String::from_utf8_lossy(text);
    let (mut whole, mut rest) = (String::with_capacity(lossy.len()), &*lossy);
    while let Some(at) = rest.find('\\') {
        let (first, second) = (surrogate(rest, at), surrogate(rest, at + ESCAPE));
        let (is_whole, end) = match (first, second) {
            (None, _) => (true, at + 2),
            (Some(0xd800..=0xdbff), Some(0xdc00..)) => (true, at + 2 * ESCAPE),
            (Some(_), _) => (false, at + ESCAPE),
        };
        // An escaped character may be longer than a byte.
        let end =
            (end..).find(|end| rest.is_char_boundary(*end) || *end >= rest.len())?.min(rest.len());
        whole.push_str(if is_whole { &rest[..end] } else { &rest[..at] });
        whole.push_str(if is_whole { "" } else { "\\ufffd" });
        rest = &rest[end..];
    }
    whole.push_str(rest);
    (whole.as_bytes() != text).then_some(whole)
}

/// The escaped surrogate at a position.
fn surrogate(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    let code = u16::from_str_radix(digits, 16).ok()?;
    (0xd800..=0xdfff).contains(&code).then_some(code)
}

/// The members of a message outside its content.
#[derive(Debug, Default)]
struct Envelope {
    id: Option<RequestId>,
    has_method: bool,
    /// Whether the text is meant as a message.
    is_message: bool,
}

/// Reads the envelope of broken text, as far as it can be read.
fn scan_envelope(head: &str, tail: &str) -> Envelope {
    let mut envelope = Envelope::default();
    // An error is expected: the members before it count.
    drop(serde_json::Deserializer::from_str(head).deserialize_map(&mut envelope));
    envelope.id = envelope.id.or_else(|| id_at_end(tail));
    envelope
}

/// The id as the last member, where official SDKs write it.
fn id_at_end(text: &str) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct End {
        id: RequestId,
    }
    let start = text.rfind("\"id\"")?;
    let end: End = serde_json::from_str(&format!("{{{}", &text[start..])).ok()?;
    Some(end.id)
}

impl<'de> Visitor<'de> for &mut Envelope {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.is_message |= matches!(&*key, "jsonrpc" | "result" | "error");
            self.has_method |= key == "method";
            if key == "id" {
                let id: Value = map.next_value()?;
                self.id = Some(serde_json::from_value(id).map_err(A::Error::custom)?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rmcp::model::JsonRpcError;

    fn recovered(text: &[u8]) -> Recovered {
        read(text, &|_| true)
            .map_or_else(|recovered| recovered, |message| Recovered::Messages(vec![message]))
    }

    fn only(text: &[u8]) -> Incoming {
        match recovered(text) {
            Recovered::Messages(mut messages) if messages.len() == 1 => messages.remove(0),
            other => panic!("{other:?}"),
        }
    }

    fn rejection(text: &[u8]) -> String {
        match only(text) {
            JsonRpcMessage::Error(JsonRpcError {
                id: Some(RequestId::Number(5)), error, ..
            }) => error.message.into_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_unreadable_answer_is_an_error_immediately() {
        let deep = ["{\"a\":".repeat(200), "1".to_owned(), "}".repeat(200)].concat();
        let first = format!(r#"{{"jsonrpc":"2.0","id":5,"result":{{"a":{deep}}}}}"#);
        let last = format!(r#"{{"result":{{"a":{deep}}},"jsonrpc":"2.0","id":5}}"#);
        for text in [
            &*first,
            &*last,
            r#"{"jsonrpc":"2.0","id":5,"result":{"a":NaN}}"#,
            r#"{"result":{"a":NaN},"id": 5 , "jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":5}"#,
            r#"{"jsonrpc":"2.0","id":5,"result""#,
            r#"{"jsonrpc":"2.0","id":5,"error":"boom"}"#,
        ] {
            let rejection = rejection(text.as_bytes());
            assert!(rejection.starts_with("its answer cannot be read: "), "{rejection}");
            assert!(rejection.ends_with("; the call may have had its effect"), "{rejection}");
        }
    }

    #[test]
    fn invalid_unicode_is_replaced() {
        for odd in [&b"a\xffb"[..], br"a\ud800b", br"a\udc00b"] {
            let before =
                &br#"{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":""#;
            let text = [&before[..], odd, &br#""}]}}"#[..]].concat();
            let message = serde_json::to_string(&only(&text)).unwrap();
            assert!(message.contains("\"a\u{fffd}b\""), "{message}");
        }
    }

    #[test]
    fn only_unpaired_surrogates_are_replaced() {
        for (text, expected) in [
            (r"a", None),
            (r"\ud83d\ude00 \\ud800 \n", None),
            (r"\ä", None),
            (r"\ud800", Some(r"\ufffd")),
            (r"\ud800\ud83d\ude00\udc00x\", Some(r"\ufffd\ud83d\ude00\ufffdx\")),
            (r"\\\ud800ä\uD8", Some(r"\\\ufffdä\uD8")),
        ] {
            assert_eq!(lossy_utf8(text.as_bytes()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_batch_is_split() {
        let text = br#"[{"jsonrpc":"2.0","id":5,"result":{}},{"jsonrpc":"2.0","id":6}]"#;
        assert!(matches!(recovered(text), Recovered::Messages(messages) if messages.len() == 2));
        assert!(matches!(recovered(b"[1, 2]"), Recovered::Noise));
    }

    #[test]
    fn noise_differs_from_an_unreadable_message() {
        for text in ["Usage: x", "5", "\"id\"", "{}", r#"{"level":"info","msg":"up"}"#, "{\"id\":"]
        {
            assert!(matches!(recovered(text.as_bytes()), Recovered::Noise), "{text}");
        }
        for text in [
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","method":5}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":NaN}}"#,
        ] {
            assert!(matches!(recovered(text.as_bytes()), Recovered::Ignored), "{text}");
        }
    }

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        #[test]
        fn no_text_panics(text: Vec<u8>, before in 0..3_usize) {
            let before = [&b""[..], b"[", br#"{"jsonrpc":"2.0","id":5,"#][before];
            recovered(&[before, &text].concat());
        }

        #[test]
        fn an_answer_is_recognized_by_its_beginning(cut in 24..60_usize) {
            let text = br#"{"jsonrpc":"2.0","id":5,"result":{"content":[]},"x":[1,2,3]}"#;
            prop_assert!(rejection(&text[..cut - 1]).starts_with("its answer cannot be read"));
        }

        #[test]
        fn a_string_can_be_read_when_it_is_lossy(
            parts in prop::collection::vec(
                prop::sample::select(vec![r"\ud800", r"\udfff", r"\\", r"\n", "u", "ä", r"\u0041"]),
                0..20,
            ),
        ) {
            let text = format!("\"{}\"", parts.concat());
            let lossy = lossy_utf8(text.as_bytes()).unwrap_or(text);
            prop_assert!(serde_json::from_str::<String>(&lossy).is_ok(), "{lossy}");
        }
    }
}
