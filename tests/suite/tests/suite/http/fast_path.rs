//! Plain calls are answered without rmcp, with the same answers as rmcp's.

use super::client::RawRequest;
use super::test_server::{TestServer, in_time};
use crate::support::StoppedClock;
use serde_json::{Value, json};
use tool_runtime::error::ProtocolError;
use tool_runtime::http::HttpOptions;
use tool_runtime::prelude::*;
use tool_runtime::{ContentBlock, ToolPoolBuilder};

/// A structured value.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Place {
    name: String,
    height: f64,
}

/// Return a structured value.
#[tool(register = false)]
async fn get_mountain() -> Place {
    Place { name: "Brocken \"B\"\n".to_owned(), height: 1141.0 }
}

/// Return a value that is not an object.
#[tool(register = false)]
async fn list_primes() -> Vec<u32> {
    vec![2, 3, 5]
}

/// Return all kinds of content.
#[tool(register = false)]
async fn all_content() -> Observation {
    Observation::text("a\u{1}\t\"ä\"\\")
        .with_content(ContentBlock::image("aGk=", "image/png"))
        .with_meta("example.com/n", json!({"deep": [1, null]}))
}

/// Fail.
#[tool(register = false)]
async fn fail() -> Result<String, ToolError> {
    Err(ToolError::user("there is no such thing"))
}

/// Panic.
#[tool(register = false)]
async fn panics() -> String {
    panic!("on purpose")
}

/// Fail with an error of the protocol.
#[tool(register = false)]
async fn fail_in_protocol(
    /// The code.
    code: i32,
) -> Result<String, ProtocolError> {
    Err(ProtocolError::new(code, "no").with_data(json!({"why": "so"})))
}

/// Return the principal and the metadata.
#[tool(register = false)]
async fn caller_and_meta(context: &ToolContext) -> String {
    let client = context.client().map(|client| client.name);
    let meta = context.meta("example.com/k").cloned();
    format!("{client:?} {meta:?} {:?}", context.header("x-known"))
}

async fn start(options: HttpOptions) -> TestServer {
    let tools = |pool: ToolPoolBuilder| {
        pool.tool::<GetMountainAction>()
            .tool::<ListPrimesAction>()
            .tool::<AllContentAction>()
            .tool::<FailAction>()
            .tool::<PanicsAction>()
            .tool::<FailInProtocolAction>()
            .tool::<CallerAndMetaAction>()
    };
    TestServer::start_with(options, tools).await
}

/// Parameters of various calls.
fn calls() -> Vec<Value> {
    let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    let mut calls: Vec<Value> =
        ["get_mountain", "list_primes", "all_content", "fail", "panics", "no_such_tool"]
            .map(|name| call(name, json!({})))
            .into();
    calls.extend(
        [-32_601, -32_602, -32_020, -32_021, -32_022, -1, 7]
            .map(|code| call("fail_in_protocol", json!({"code": code}))),
    );
    calls.push(call("echo", json!({"text": "hello"})));
    calls.push(call("echo", json!({"txet": "hello"})));
    calls.push(call("echo", json!([1])));
    calls.push(json!({"name": "echo"}));
    calls.push(json!({"name": "echo", "arguments": null}));
    calls
}

/// Sends the request through the fast path and through rmcp, and compares the answers.
async fn compare_with_rmcp(server: &TestServer, request: &RawRequest) {
    let (fast, slow) =
        (server.request(request).await, server.request(&request.clone().through_rmcp()).await);
    assert_eq!(fast.status(), slow.status(), "{fast:?} {slow:?}");
    assert_eq!(fast.head.header("content-type"), "application/json");
    assert_eq!(fast.json(), slow.last_event());
}

#[tokio::test]
async fn stateless_calls_get_equal_answers() {
    let server = start(HttpOptions::default()).await;
    for params in calls() {
        compare_with_rmcp(&server, &RawRequest::stateless(7, "tools/call", params)).await;
    }
}

#[tokio::test]
async fn older_calls_without_sessions_get_equal_answers() {
    let server = start(HttpOptions::default().sessions(false)).await;
    for params in calls() {
        let call = json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params});
        let request = RawRequest::post(call.to_string());
        compare_with_rmcp(&server, &request).await;
        compare_with_rmcp(&server, &request.with("mcp-protocol-version", "2025-06-18")).await;
    }
}

#[tokio::test]
async fn calls_in_sessions_get_equal_answers() {
    let server = start(HttpOptions::default()).await;
    let session = server.session(&[]).await;
    for params in calls() {
        let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params});
        let request = RawRequest::within(&session, &call);
        compare_with_rmcp(&server, &request).await;
        compare_with_rmcp(&server, &request.with("mcp-protocol-version", "2025-11-25")).await;
    }
}

/// The clock does not move: the call has no stream yet.
#[tokio::test(start_paused = true)]
async fn a_call_in_a_session_can_be_cancelled_before_it_has_a_stream() {
    let _clock = StoppedClock::hold();
    let mut server = start(HttpOptions::default()).await;
    let session = server.session(&[]).await;
    let call = RawRequest::call_within(&session, 3, "wait");
    let mut connection = server.open().await;
    connection.send(&call).await;
    assert_eq!(server.report().await, "started");
    // Its id is not free.
    let again = server.request(&RawRequest::call_within(&session, 3, "whoami")).await;
    let message = again.json()["error"]["message"].to_string();
    assert!(message.contains("another request with the id"), "{message}");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
        "requestId": 3
    }});
    assert_eq!(server.request(&RawRequest::within(&session, &cancel)).await.status(), 202);
    assert_eq!(server.report().await, "dropped");
    let answer = in_time(connection.answer()).await;
    assert_eq!((answer.status(), &*answer.body), (200, ""), "a cancelled request is not answered");
    let again = server.request(&RawRequest::call_within(&session, 3, "whoami")).await;
    assert_eq!(again.json()["result"]["isError"], false);
}

#[tokio::test(start_paused = true)]
async fn a_call_in_a_session_ends_with_it_before_it_has_a_stream() {
    let _clock = StoppedClock::hold();
    let mut server = start(HttpOptions::default()).await;
    let session = server.session(&[]).await;
    let mut connection = server.open().await;
    connection.send(&RawRequest::call_within(&session, 3, "wait")).await;
    assert_eq!(server.report().await, "started");
    let end = RawRequest::new("DELETE", "/mcp").with("mcp-session-id", &session);
    assert_eq!(server.request(&end).await.status(), 204);
    assert_eq!(server.report().await, "dropped");
    assert_eq!(&*in_time(connection.answer()).await.body, "");
}

#[tokio::test]
async fn a_call_in_a_session_that_waits_can_be_cancelled() {
    let mut server = start(HttpOptions::default()).await;
    let session = server.session(&[]).await;
    let mut connection = server.open().await;
    connection.send(&RawRequest::call_within(&session, 3, "wait")).await;
    assert_eq!(connection.head().await.header("content-type"), "text/event-stream");
    assert_eq!(server.report().await, "started");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
        "requestId": 3
    }});
    assert_eq!(server.request(&RawRequest::within(&session, &cancel)).await.status(), 202);
    assert_eq!(server.report().await, "dropped");
}

#[tokio::test]
async fn an_ended_session_accepts_no_calls() {
    let server = start(HttpOptions::default()).await;
    let session = server.session(&[]).await;
    let call = RawRequest::call_within(&session, 1, "whoami");
    assert_eq!(server.request(&call).await.status(), 200);
    let end = RawRequest::new("DELETE", "/mcp").with("mcp-session-id", &session);
    assert_eq!(server.request(&end).await.status(), 204);
    assert_eq!(server.request(&call).await.status(), 404);
    assert_eq!(
        server.request(&RawRequest::call_within("no-such", 1, "whoami")).await.status(),
        404
    );
    // Without a session, no call is possible.
    assert_eq!(server.request(&RawRequest::call_within("", 1, "whoami")).await.status(), 400);
}

#[tokio::test]
async fn the_metadata_of_a_call_reaches_the_tool() {
    let server = start(HttpOptions::default()).await;
    let request =
        RawRequest::call(1, "caller_and_meta").with("x-known", "yes").with_params(|params| {
            params["_meta"]["example.com/k"] = json!(5);
        });
    let answer = server.request(&request).await.json();
    let text = &answer["result"]["content"][0]["text"];
    assert_eq!(text, r#"Some("t") Some(Number(5)) Some("yes")"#);
    compare_with_rmcp(&server, &request).await;
}

#[tokio::test]
async fn rejects_malformed_calls() {
    let server = start(HttpOptions::default()).await;
    let call = RawRequest::call(1, "whoami");
    for (name, value) in [
        ("mcp-name", ""),
        ("mcp-name", "echo"),
        ("mcp-method", ""),
        ("mcp-method", "tools/list"),
        ("mcp-protocol-version", ""),
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-protocol-version", "2030-01-01"),
    ] {
        let rejected = server.request(&call.clone().with(name, value)).await;
        assert_eq!(rejected.status(), 400, "{name}: {value}: {rejected:?}");
    }
    for key in ["protocolVersion", "clientCapabilities"] {
        for broken in [Value::Null, json!(1)] {
            let request = call.clone().with_params(|params| {
                params["_meta"][format!("io.modelcontextprotocol/{key}")] = broken;
            });
            let rejected = server.request(&request).await;
            assert_eq!(rejected.status(), 400, "{key}: {rejected:?}");
        }
    }
}

#[tokio::test]
async fn a_name_may_be_encoded_in_its_header() {
    let server = start(HttpOptions::default()).await;
    let request = RawRequest::call(1, "whoami").with("mcp-name", "=?base64?d2hvYW1p?=");
    assert_eq!(server.request(&request).await.json()["result"]["content"][0]["text"], "anonymous");
}
