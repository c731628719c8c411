//! Both protocol versions: 2026-07-28 without sessions, `initialize` with and without.

use super::client::RawRequest;
use super::test_server::TestServer;
use serde_json::{Value, json};
use tool_runtime::http::HttpOptions;

#[tokio::test]
async fn a_stateless_call_is_answered_by_plain_json() {
    let server = TestServer::start(HttpOptions::default()).await;
    let params = json!({"name": "echo", "arguments": {"text": "hé"}});
    let answer = server.request(&RawRequest::stateless(7, "tools/call", params)).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.head.header("content-type"), "application/json");
    assert_eq!(answer.head.header("mcp-session-id"), "");
    let message = answer.json();
    assert_eq!((&message["id"], &message["result"]["isError"]), (&json!(7), &json!(false)));
    assert_eq!(message["result"]["content"][0]["text"], "hé");
}

#[tokio::test]
async fn a_stateless_client_discovers_and_lists() {
    let server = TestServer::start(HttpOptions::default()).await;
    let mut connection = server.open().await;
    let found =
        connection.request(&RawRequest::stateless(1, "server/discover", json!({}))).await.json();
    assert_eq!(found["result"]["supportedVersions"].as_array().map(Vec::is_empty), Some(false));
    let listed =
        connection.request(&RawRequest::stateless(2, "tools/list", json!({}))).await.json();
    let names: Vec<&Value> =
        listed["result"]["tools"].as_array().expect("a list").iter().map(|t| &t["name"]).collect();
    assert_eq!(names, ["echo", "place", "wait", "whoami"]);
}

#[tokio::test]
async fn headers_that_contradict_the_message_are_rejected() {
    let server = TestServer::start(HttpOptions::default()).await;
    let answer = server.request(&RawRequest::call(1, "whoami").with("mcp-name", "echo")).await;
    assert_eq!((answer.status(), &answer.json()["error"]["code"]), (400, &json!(-32020)));
    let answer = server.request(&RawRequest::stateless(1, "no/such", json!({}))).await;
    assert_eq!((answer.status(), &answer.json()["error"]["code"]), (404, &json!(-32601)));
}

#[tokio::test]
async fn arguments_that_headers_repeat_are_compared() {
    let server = TestServer::start(HttpOptions::default()).await;
    let params = json!({"name": "place", "arguments": {"region": "north"}});
    let request = RawRequest::stateless(1, "tools/call", params);
    for other in [request.clone(), request.clone().with("mcp-param-region", "south")] {
        let rejected = server.request(&other).await;
        assert_eq!((rejected.status(), &rejected.json()["error"]["code"]), (400, &json!(-32020)));
    }
    let answer = server.request(&request.with("mcp-param-region", "north")).await.json();
    assert_eq!(answer["result"]["content"][0]["text"], "north");
}

#[tokio::test]
async fn an_older_client_has_a_session_until_it_ends_it() {
    let server = TestServer::start(HttpOptions::default()).await;
    let session = server.session(&[]).await;
    let call = RawRequest::call_within(&session, 1, "whoami");
    let answer = server.request(&call).await;
    assert_eq!(answer.head.header("content-type"), "application/json");
    assert_eq!(answer.last_event()["result"]["content"][0]["text"], "anonymous");
    let end = RawRequest::new("DELETE", "/mcp").with("mcp-session-id", &session);
    assert_eq!(server.request(&end).await.status(), 204);
    assert_eq!(server.request(&call).await.status(), 404);
}

#[tokio::test]
async fn older_clients_are_answered_without_sessions() {
    let server = TestServer::start(HttpOptions::default().sessions(false)).await;
    let answer = server.request(&RawRequest::initialize()).await;
    assert_eq!(answer.head.header("mcp-session-id"), "");
    assert_eq!(answer.json()["result"]["protocolVersion"], "2025-11-25");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "echo", "arguments": {"text": "hello"}
    }});
    let answer = server.request(&RawRequest::post(call.to_string())).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "hello");
    let listen = RawRequest::new("GET", "/mcp").with("accept", "text/event-stream");
    assert_eq!(server.request(&listen).await.status(), 405);
}

#[tokio::test]
async fn arguments_reach_the_tool_as_they_were_written() {
    let server = TestServer::start(HttpOptions::default()).await;
    for (arguments, expected) in [
        (json!(["a"]), "must be a JSON object, got an array"),
        (json!({"txet": "a"}), "`text`"),
        (Value::Null, "`text`"),
    ] {
        let params = json!({"name": "echo", "arguments": arguments});
        let message = server.request(&RawRequest::stateless(1, "tools/call", params)).await.json();
        assert_eq!(message["result"]["isError"], true, "{message}");
        let text = message["result"]["content"][0]["text"].as_str().expect("a string");
        assert!(text.contains(expected), "{text}");
    }
}
