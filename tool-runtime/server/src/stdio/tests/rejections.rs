//! Answers to lines that are not messages.

use rmcp::model::RequestId;
use serde_json::{Value, json};

use super::super::message::parse;
use super::support::{id_of, over_pipes, ping, received};

/// Code and id of the answer to a line; `None` when it is ignored.
fn rejection(line: &[u8]) -> Option<(i64, Value)> {
    match parse(line) {
        Ok(None) => None,
        Ok(Some(message)) => panic!("taken for a message: {message:?}"),
        Err(rejection) => {
            let answer = serde_json::to_value(&rejection).expect("serialisable");
            assert_eq!(answer["jsonrpc"], "2.0");
            let code = answer["error"]["code"].as_i64().expect("a code");
            Some((code, answer["id"].clone()))
        }
    }
}

#[test]
fn invalid_json_is_a_parse_error() {
    for line in ["{", "hello", "{\"jsonrpc\":\"2.0\",\"id\":1,}", "{} {}", "[1,"] {
        assert_eq!(rejection(line.as_bytes()), Some((-32700, Value::Null)), "{line}");
    }
    assert_eq!(rejection(b"{\"a\":\"\xff\"}"), Some((-32700, Value::Null)));
}

#[test]
fn json_that_is_not_a_message_is_an_invalid_request() {
    let cases = [
        ("{}", json!(null)),
        ("5", json!(null)),
        ("\"text\"", json!(null)),
        (r#"{"id":7}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":7}"#, json!(null)),
        (r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#, json!("x")),
        (r#"{"id":7,"method":"ping"}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":[1],"id":2}"#, json!(null)),
        // JSON that many clients cannot read is not sent back.
        (r#"{"jsonrpc":"2.0","id":1e999,"method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":"\ud800","method":"ping"}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":null}"#, json!(null)),
        (r#"{"jsonrpc":"2.0","id":7,"error":"text"}"#, json!(null)),
    ];
    for (line, id) in cases {
        assert_eq!(rejection(line.as_bytes()), Some((-32600, id)), "{line}");
    }
}

#[test]
fn a_json_rpc_batch_is_rejected_with_a_reason() {
    let line = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
    let answer = serde_json::to_value(parse(line).expect_err("a rejection")).expect("serialisable");
    assert_eq!(answer["error"]["code"], -32600);
    let text = answer["error"]["message"].as_str().expect("a string");
    assert!(text.contains("batches are not supported"), "{text}");
}

#[test]
fn a_request_with_unusable_parameters_is_answered() {
    let cases = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"x"}"#, -32602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":1,"name":"t"}}"#,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x/y","params":[1]}"#, -32601),
    ];
    for (line, code) in cases {
        assert_eq!(rejection(line.as_bytes()), Some((code, json!(1))), "{line}");
    }
}

#[test]
fn an_id_is_repeated_as_it_was_written() {
    let line = br#"{"jsonrpc":"2.0","id":98765432109876543210,"method":"tools/list"}"#;
    let answer = serde_json::to_string(&parse(line).expect_err("a rejection")).expect("text");
    assert!(answer.contains("\"id\":98765432109876543210,"), "{answer}");
}

#[test]
fn rejects_an_id_that_rmcp_cannot_represent() {
    for id in ["98765432109876543210", "1.5"] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
        let answer = serde_json::to_value(parse(line.as_bytes()).expect_err("a rejection"));
        let error = &answer.expect("serialisable")["error"];
        assert_eq!(error["code"], -32600, "{error}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains("`id`")), "{error}");
    }
}

#[test]
fn a_cursor_that_is_not_a_text_is_rejected() {
    let list = |cursor: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"cursor":{cursor}}}}}"#
        )
    };
    for cursor in ["5", "{}", "[]", "true"] {
        assert_eq!(rejection(list(cursor).as_bytes()), Some((-32602, json!(1))), "{cursor}");
    }
    for cursor in ["null", "\"x\""] {
        assert!(parse(list(cursor).as_bytes()).is_ok_and(|message| message.is_some()), "{cursor}");
    }
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"cursor":5}}"#;
    assert!(parse(call.as_bytes()).is_ok());
}

#[tokio::test]
async fn an_unusable_answer_fails_its_question() {
    let (mut peer, mut transport) = over_pipes();
    let bad = [
        r#"{"jsonrpc":"2.0","id":0,"error":"x"}"#,
        r#"{"jsonrpc":"2.0","id":0,"result":{},"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":0}"#,
        r#"{"jsonrpc":"2.0","id":0,"result":{},"result":{}}"#,
    ];
    // Questions are only possible in an open session.
    peer.write(format!("{}\n{}", bad[0], ping(1)));
    assert_eq!(id_of(received(&mut transport).await), Some(1));
    assert_eq!(peer.expect()["id"], Value::Null);
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "peer", "version": "1"},
    });
    let open = json!({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": params});
    peer.write(format!("{open}\n"));
    assert_eq!(id_of(received(&mut transport).await), Some(2));
    for line in bad {
        peer.write(format!("{line}\n"));
        let (error, id) = received(&mut transport).await.and_then(|m| m.into_error()).expect(line);
        assert_eq!((id, error.code.0), (Some(RequestId::Number(0)), -32603), "{line}");
        assert_eq!(peer.expect()["id"], Value::Null, "{line}");
    }
}

#[test]
fn a_notification_is_never_answered() {
    let line = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}"#;
    assert_eq!(rejection(line), None);
}

#[tokio::test]
async fn the_next_message_is_answered_after_each() {
    let (mut peer, transport) = over_pipes();
    let mut transport = transport.with_line_limit(100);
    let long = "x".repeat(101);
    for (id, bad) in (0..).zip(["{", "{}", "[]", long.as_str()]) {
        peer.write(format!("{bad}\n{}", ping(id)));
        assert_eq!(id_of(received(&mut transport).await), Some(id));
        assert_eq!(peer.expect()["id"], Value::Null);
    }
}

#[tokio::test]
async fn an_oversized_line_names_the_limit() {
    let (mut peer, transport) = over_pipes();
    let mut transport = transport.with_line_limit(1000);
    peer.write(format!("{}\n{}", "x".repeat(5000), ping(1)));
    assert_eq!(id_of(received(&mut transport).await), Some(1));
    let answer = peer.expect();
    assert_eq!(answer["id"], Value::Null);
    assert_eq!(answer["error"]["code"], -32600);
    let text = answer["error"]["message"].as_str().expect("a string");
    assert!(text.contains("1000 bytes"), "{text}");
}
