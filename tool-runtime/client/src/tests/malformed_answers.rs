//! Answers that are not what MCP says: they fail their own request.

use super::support::{call, connected, error, is, pool, rejection, result, scripted, tool};
use crate::McpState;
use serde_json::{Value, json};
use std::time::Duration;
use tool_runtime_core::vocabulary::error::ErrorClass;

/// A server whose tool `odd` answers with a line, in which `ID` is the id of the call.
async fn odd(line: &'static str) -> (tool_runtime_core::pool::ToolPool, crate::McpManager) {
    connected(move |message| {
        if is(message, "tools/list") {
            return Some(result(message, &json!({ "tools": [tool("odd"), tool("echo")] })));
        }
        (message["params"]["name"] == "odd").then(|| line.replace("ID", &message["id"].to_string()))
    })
    .await
}

#[tokio::test]
async fn a_malformed_result_fails_its_own_call_in_words() {
    for (line, words) in [
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":null}"#,
            "its answer is null, not the result of a call",
        ),
        (r#"{"jsonrpc":"2.0","id":ID,"result":"plain"}"#, "its answer is the string \"plain\","),
        (r#"{"jsonrpc":"2.0","id":ID,"result":9}"#, "its answer is the number 9,"),
        (r#"{"jsonrpc":"2.0","id":ID,"result":[1,2]}"#, "its answer is an array of 2 items,"),
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":{"toolResult":1}}"#,
            "an object with the member `toolResult`",
        ),
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"later","content":[]}}"#,
            "the `resultType` the string \"later\"",
        ),
        (r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":9}}"#, "the `resultType` the number 9"),
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","inputRequests":5}}"#,
            "input_required",
        ),
        (r#"{"jsonrpc":"2.0","id":ID,"error":"boom"}"#, "its error is the string \"boom\""),
        (
            r#"{"jsonrpc":"2.0","id":ID,"error":{"data":1}}"#,
            "its error is an object with the member `data`",
        ),
        (r#"{"jsonrpc":"2.0","id":ID}"#, "it has neither `result` nor `error`"),
    ] {
        let (pool, manager) = odd(line).await;
        let rejected = call(&pool, "s.odd").await;
        let error = rejected.error().unwrap_or_else(|| panic!("{line}: {rejected:?}"));
        assert!(error.message().contains(words), "{line}: {error}");
        assert!(error.message().contains("may have had its effect"), "{line}: {error}");
        assert_eq!(error.class(), ErrorClass::Indeterminate, "{line}");
        assert!(!error.message().contains("Number("), "{error}");
        assert!(!error.message().contains("lost"), "{error}");
        assert_eq!(call(&pool, "s.echo").await.observation().to_text(), "done");
        assert_eq!(manager.server("s").unwrap().state, McpState::Ready);
    }
}

#[tokio::test]
async fn an_error_of_another_shape_is_the_servers_refusal() {
    for (line, words) in [
        (
            r#"{"jsonrpc":"2.0","id":ID,"error":{"code":"-32000","message":"no disk"}}"#,
            "refused `odd`: no disk",
        ),
        (r#"{"jsonrpc":"2.0","id":ID,"error":{"message":"no disk"}}"#, "refused `odd`: no disk"),
        (
            r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32000}}"#,
            "refused `odd`: the error -32000 without a message",
        ),
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":null,"error":{"code":-32000,"message":"no disk"}}"#,
            "refused `odd`: no disk",
        ),
        (r#"{"id":ID,"error":{"code":-32000,"message":"no disk"}}"#, "refused `odd`: no disk"),
    ] {
        let (pool, _manager) = odd(line).await;
        let text = rejection(&pool, "s.odd").await;
        assert!(text.contains(words), "{line}: {text}");
    }
}

#[tokio::test]
async fn an_answer_is_read_despite_its_envelope() {
    let content = r#"{"content":[{"type":"text","text":"kept"}]}"#;
    for line in [
        r#"{"jsonrpc":"2.0","id":"ID","result":CONTENT}"#,
        r#"{"jsonrpc":"2.0","id":ID.0,"result":CONTENT}"#,
        r#"{"id":ID,"result":CONTENT}"#,
        r#"{"jsonrpc":"2.0","id":ID,"error":null,"result":CONTENT}"#,
        "{\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":CONTENT}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":1,\"message\":\"m\"}}\n{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":CONTENT}",
    ] {
        let line: &'static str = line.replace("CONTENT", content).leak();
        let (pool, manager) = odd(line).await;
        assert_eq!(call(&pool, "s.odd").await.observation().to_text(), "kept", "{line}");
        assert_eq!(manager.server("s").unwrap().state, McpState::Ready);
    }
}

#[tokio::test]
async fn an_answer_that_nobody_asked_for_does_not_end_the_handshake() {
    let stray = json!({ "jsonrpc": "2.0", "id": 4711, "result": { "content": [] } });
    let (pool, _manager) = connected(move |message| {
        let answer = super::support::usual(message)?;
        is(message, "initialize").then(|| format!("{stray}\n{answer}"))
    })
    .await;
    assert_eq!(call(&pool, "s.echo").await.observation().to_text(), "done");
}

#[tokio::test]
async fn a_malformed_answer_to_the_handshake_is_named() {
    for (answer, words) in [
        (json!(null), "its first answer is null, which is not valid MCP"),
        (json!({ "capabilities": {} }), "missing field `protocolVersion`"),
    ] {
        let hour = Duration::from_secs(3600);
        let manager =
            scripted(move |message| is(message, "initialize").then(|| result(message, &answer)));
        let manager = manager.retry(hour, hour).start(&pool()).unwrap();
        manager.settled().await;
        let state = manager.server("s").unwrap().state;
        assert!(state.reason().unwrap().contains(words), "{state}");
    }
}

#[tokio::test]
async fn a_malformed_answer_of_resources_is_named() {
    let (_pool, manager) = connected(|message| match message["method"].as_str()? {
        "resources/list" => Some(result(message, &json!("none"))),
        "resources/read" => Some(result(message, &Value::Null)),
        _ => None,
    })
    .await;
    let listed = manager.resources("s").await.unwrap_err().to_string();
    assert!(listed.contains("its answer to `resources/list` is the string \"none\""), "{listed}");
    let read = manager.read_resource("s", "a:b").await.unwrap_err().to_string();
    assert!(read.contains("its answer to `resources/read` is null, not contents"), "{read}");
    assert_eq!(manager.server("s").unwrap().state, McpState::Ready);
}

#[tokio::test]
async fn an_image_as_a_data_url_becomes_an_image() {
    let (pool, _manager) = connected(|message| {
        let image = json!({ "type": "image", "data": "data:image/png;base64,iVBORw0KGgo=" });
        is(message, "tools/call").then(|| result(message, &json!({ "content": [image] })))
    })
    .await;
    let observation = call(&pool, "s.echo").await;
    let content = serde_json::to_value(observation.observation()).unwrap();
    let expected = json!({ "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" });
    assert_eq!(content["content"][0], expected);
}

#[tokio::test]
async fn a_refusal_of_a_list_is_not_a_lost_connection() {
    let hour = Duration::from_secs(3600);
    let manager = scripted(|message| {
        is(message, "tools/list")
            .then(|| error(message, &json!({ "code": "x", "message": "down" })))
    });
    let manager = manager.retry(hour, hour).start(&pool()).unwrap();
    manager.settled().await;
    let state = manager.server("s").unwrap().state;
    assert!(state.reason().unwrap().contains("it did not list its tools: down"), "{state}");
}
