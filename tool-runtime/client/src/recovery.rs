//! Recovers from messages that cannot be read: a caller that waits for one gets an error.

mod list;
mod mend;
mod outline;

use super::notification_router::NotificationRouter;
use outline::Outline;
use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::RxJsonRpcMessage;
use serde_json::value::RawValue;

pub(super) type Incoming = RxJsonRpcMessage<RoleClient>;

/// What can be made of a text.
#[derive(Debug)]
pub(super) enum Salvaged {
    /// In order, and at least one.
    Messages(Vec<Incoming>),
    /// A message that nobody waits for, and that says nothing to us.
    Odd,
    /// No message at all: servers print all kinds of things.
    Stray,
}

/// Makes the best of a text that is not a message, for the given reason. `is_call` says whether it is
/// a call that is answered so.
#[cold]
pub(super) fn salvaged(
    text: &[u8],
    why: &serde_json::Error,
    is_call: &dyn Fn(&RequestId) -> bool,
    notifications: &NotificationRouter,
) -> Salvaged {
    tracing::debug!("this cannot be read as a message: {why}");
    if text.starts_with(b"[") {
        return batch(text, is_call, notifications);
    }
    if let Some(mended) = mend::mended(text)
        && let Ok(message) = serde_json::from_str(&mended)
    {
        return Salvaged::Messages(vec![message]);
    }
    if let Some(list) = list::of_readable(text, notifications) {
        return Salvaged::Messages(vec![list]);
    }
    match unreadable((text, text), &in_words(why), is_call) {
        Ok(answer) => Salvaged::Messages(vec![answer]),
        Err(true) => Salvaged::Odd,
        Err(false) => Salvaged::Stray,
    }
}

/// The answer that stands for one that cannot be read, by its beginning and its end.
///
/// # Errors
/// It is not an answer. Whether it is a message.
#[cold]
pub(super) fn unreadable(
    (head, tail): (&[u8], &[u8]),
    why: &str,
    is_call: &dyn Fn(&RequestId) -> bool,
) -> Result<Incoming, bool> {
    let outline = Outline::of(head, tail);
    let Some(id) = outline.answers else { return Err(outline.is_message) };
    let error = match outline.error {
        Some(error) => ErrorData::new(ErrorCode::INTERNAL_ERROR, error, None),
        None => {
            let effect = if is_call(&id) { "; the call may have had its effect" } else { "" };
            let text = format!("its answer cannot be read: {why}{effect}");
            ErrorData::new(ErrorCode::PARSE_ERROR, text, None)
        }
    };
    Ok(JsonRpcMessage::error(error, Some(id)))
}

/// Revisions of MCP before 2025-06-18 have several messages in one line.
fn batch(
    text: &[u8],
    is_call: &dyn Fn(&RequestId) -> bool,
    notifications: &NotificationRouter,
) -> Salvaged {
    let Ok(parts) = serde_json::from_slice::<Vec<&RawValue>>(text) else { return Salvaged::Stray };
    let (mut messages, mut is_message) = (Vec::new(), false);
    for part in parts.iter().map(|part| part.get()) {
        let salvaged = match serde_json::from_str(part) {
            Ok(message) => Salvaged::Messages(vec![message]),
            // Nobody puts batches into batches, without end.
            Err(_) if part.starts_with('[') => Salvaged::Stray,
            Err(why) => salvaged(part.as_bytes(), &why, is_call, notifications),
        };
        is_message |= !matches!(salvaged, Salvaged::Stray);
        if let Salvaged::Messages(more) = salvaged {
            messages.extend(more);
        }
    }
    match is_message {
        true if !messages.is_empty() => Salvaged::Messages(messages),
        true => Salvaged::Odd,
        false => Salvaged::Stray,
    }
}

/// Why JSON cannot be read.
fn in_words(why: &serde_json::Error) -> String {
    let text = why.to_string();
    if text.starts_with("recursion limit") { "it is nested too deep".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rmcp::model::JsonRpcError;
    use std::sync::Arc;

    fn salvage(text: &[u8]) -> Salvaged {
        let notifications = NotificationRouter::new("s".into(), Arc::default());
        match serde_json::from_slice::<Incoming>(text) {
            Ok(message) => Salvaged::Messages(vec![message]),
            Err(why) => salvaged(text, &why, &|_| true, &notifications),
        }
    }

    fn only(text: &[u8]) -> Incoming {
        match salvage(text) {
            Salvaged::Messages(mut messages) if messages.len() == 1 => messages.remove(0),
            other => panic!("{other:?}"),
        }
    }

    fn refusal(text: &[u8]) -> String {
        match only(text) {
            JsonRpcMessage::Error(JsonRpcError {
                id: Some(RequestId::Number(5)), error, ..
            }) => error.message.into_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_an_error_at_once() {
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
        ] {
            let refusal = refusal(text.as_bytes());
            assert!(refusal.starts_with("its answer cannot be read: "), "{refusal}");
            assert!(refusal.ends_with("; the call may have had its effect"), "{refusal}");
        }
        assert!(refusal(first.as_bytes()).contains("it is nested too deep"));
    }

    #[test]
    fn an_error_of_another_shape_is_told() {
        assert_eq!(refusal(br#"{"jsonrpc":"2.0","id":5,"error":"boom"}"#), "boom");
        let coded = br#"{"jsonrpc":"2.0","id":5,"error":{"code":"E_FULL"}}"#;
        assert_eq!(refusal(coded), r#"{"code":"E_FULL"}"#);
    }

    #[test]
    fn text_that_is_none_is_mended() {
        for odd in [&b"a\xffb"[..], br"a\ud800b", br"a\udc00b"] {
            let before =
                &br#"{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":""#;
            let text = [&before[..], odd, &br#""}]}}"#[..]].concat();
            let message = serde_json::to_string(&only(&text)).unwrap();
            assert!(message.contains("\"a\u{fffd}b\""), "{message}");
        }
    }

    #[test]
    fn a_batch_is_taken_apart() {
        let text = br#"[{"jsonrpc":"2.0","id":5,"result":{}},{"jsonrpc":"2.0","id":6}]"#;
        assert!(matches!(salvage(text), Salvaged::Messages(messages) if messages.len() == 2));
        assert!(matches!(salvage(b"[1, 2]"), Salvaged::Stray));
    }

    #[test]
    fn what_is_no_message_is_told_from_what_is_an_odd_one() {
        for text in ["Usage: x", "5", "\"id\"", "{}", r#"{"level":"info","msg":"up"}"#, "{\"id\":"]
        {
            assert!(matches!(salvage(text.as_bytes()), Salvaged::Stray), "{text}");
        }
        for text in [
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","method":5}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":NaN}}"#,
        ] {
            assert!(matches!(salvage(text.as_bytes()), Salvaged::Odd), "{text}");
        }
    }

    #[test]
    fn a_list_is_read_without_the_tool_that_cannot_be() {
        let deep = ["{\"a\":".repeat(150), "1".to_owned(), "}".repeat(150)].concat();
        let text = format!(
            r#"{{"result":{{"tools":[{{"name":"good","inputSchema":{{"type":"object"}}}},{{"inputSchema":{deep},"name":"deep"}}],"nextCursor":"2"}},"jsonrpc":"2.0","id":5}}"#
        );
        let notifications = NotificationRouter::new("s".into(), Arc::default());
        let why = serde_json::from_str::<Incoming>(&text).unwrap_err();
        match salvaged(text.as_bytes(), &why, &|_| false, &notifications) {
            Salvaged::Messages(messages) => {
                let list = serde_json::to_value(&messages[0]).unwrap();
                assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 1);
                assert_eq!(list["result"]["nextCursor"], "2");
            }
            other => panic!("{other:?}"),
        }
        let odd = notifications.take_odd();
        assert_eq!(odd, [("deep".to_owned(), "it is nested too deep".to_owned())]);
    }

    proptest! {
        /// Whatever a server sends, nothing panics.
        #[test]
        fn anything_can_be_looked_at(text: Vec<u8>, before in 0..3_usize) {
            let before = [&b""[..], b"[", br#"{"jsonrpc":"2.0","id":5,"#][before];
            salvage(&[before, &text].concat());
        }

        /// Whatever is broken in it.
        #[test]
        fn an_answer_is_known_by_its_beginning(cut in 24..60_usize) {
            let text = br#"{"jsonrpc":"2.0","id":5,"result":{"content":[]},"x":[1,2,3]}"#;
            prop_assert!(refusal(&text[..cut - 1]).starts_with("its answer cannot be read"));
        }
    }
}
