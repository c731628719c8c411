//! Answers in event streams: progress, logs, questions, and the end of a stream.

use super::client::{Connection, RawRequest};
use super::test_server::{Probe, TestServer, in_time};
use serde_json::{Value, json};
use tool_runtime::ToolPoolBuilder;
use tool_runtime::http::HttpOptions;
use tool_runtime::peer::{Answer, LogLevel};
use tool_runtime::prelude::*;

/// Log a message and report half of the progress, then wait until the test releases the call.
#[tool(register = false)]
async fn halfway(probe: &Probe, context: &ToolContext) -> &'static str {
    context.progress(1, 2, "half");
    context.log(LogLevel::Warning, "half of it");
    probe.wait().await;
    "whole"
}

/// Log a message, report progress and answer at once.
#[tool(register = false)]
async fn quick(context: &ToolContext) -> &'static str {
    context.progress(1, 1, "all");
    "whole"
}

/// Spawn a task that keeps the context of the call.
#[tool(register = false)]
async fn keep_context(probe: &Probe, context: &ToolContext) -> &'static str {
    let (context, permits) = (context.clone(), probe.permits());
    context.progress(1, 1, "all");
    tokio::spawn(async move {
        permits.acquire().await.expect("never closed").forget();
        drop(context);
    });
    "done"
}

/// Ask before doing anything.
#[tool(register = false)]
pub(super) async fn careful(context: &ToolContext) -> Result<String, ToolError> {
    Ok(match context.ask::<bool>("sure", "Sure?").await? {
        Answer::Accepted(true) => "did it".to_owned(),
        _ => "left it".to_owned(),
    })
}

async fn start(options: HttpOptions) -> TestServer {
    let tools = |pool: ToolPoolBuilder| {
        pool.tool::<HalfwayAction>()
            .tool::<QuickAction>()
            .tool::<KeepContextAction>()
            .tool::<CarefulAction>()
    };
    TestServer::start_with(options, tools).await
}

/// A call with a progress token, log level and capabilities, for the fast path and for rmcp.
pub(super) fn stateless(tool: &str) -> [RawRequest; 2] {
    let meta = json!({
        "progressToken": "p",
        "io.modelcontextprotocol/logLevel": "info",
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": tool, "arguments": {}, "_meta": meta
    }});
    let request = RawRequest::post(call.to_string())
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-method", "tools/call")
        .with("mcp-name", tool);
    [request.clone(), request.through_rmcp()]
}

/// The next message of a stream.
pub(super) async fn event(connection: &mut Connection) -> Value {
    in_time(async {
        loop {
            let chunk = connection.chunk().await.expect("another message");
            let data = chunk.lines().find_map(|line| line.strip_prefix("data:"));
            if let Some(data) = data.map(str::trim).filter(|data| !data.is_empty()) {
                return serde_json::from_str(data).expect("JSON");
            }
        }
    })
    .await
}

/// The message that `halfway` logs before it waits.
fn is_log(message: &Value) -> bool {
    message["method"] == "notifications/message" && message["params"]["data"] == "half of it"
}

/// The progress that `halfway` reports.
fn is_progress(message: &Value) -> bool {
    let params = &message["params"];
    message["method"] == "notifications/progress"
        && (&params["progressToken"], &params["progress"]) == (&json!("p"), &json!(1.0))
}

/// Reads the head of a stream, the log message and the progress of `halfway`.
async fn read_half(connection: &mut Connection) {
    let head = in_time(connection.head()).await;
    assert_eq!((head.status, head.header("content-type")), (200, "text/event-stream"));
    assert_eq!(head.header("cache-control"), "no-cache");
    let messages = [event(connection).await, event(connection).await];
    assert!(messages.iter().any(is_log) && messages.iter().any(is_progress), "{messages:?}");
}

/// Releases the call and reads its result.
async fn read_result(server: &mut TestServer, connection: &mut Connection) {
    assert_eq!(server.report().await, "started");
    server.release();
    let answer = event(connection).await;
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(7), &json!("whole"))
    );
    assert_eq!(in_time(connection.chunk()).await, None);
    assert_eq!(server.report().await, "dropped");
}

#[tokio::test]
async fn notifications_arrive_before_the_result() {
    let mut server = start(HttpOptions::default()).await;
    for request in stateless("halfway") {
        let mut connection = server.open().await;
        connection.send(&request).await;
        read_half(&mut connection).await;
        read_result(&mut server, &mut connection).await;
    }
}

#[tokio::test]
async fn notifications_of_a_call_in_a_session_precede_its_result() {
    let mut server = start(HttpOptions::default()).await;
    let session = server.session(&[]).await;
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "halfway", "_meta": {"progressToken": "p"}
    }});
    let mut connection = server.open().await;
    connection.send(&RawRequest::within(&session, &call)).await;
    assert_eq!(in_time(connection.head()).await.header("content-type"), "text/event-stream");
    let messages = [event(&mut connection).await, event(&mut connection).await];
    assert!(messages.iter().any(is_log) && messages.iter().any(is_progress), "{messages:?}");
    read_result(&mut server, &mut connection).await;
}

#[tokio::test]
async fn a_call_that_ends_immediately_still_notifies_first() {
    let server = start(HttpOptions::default()).await;
    for request in stateless("quick") {
        let mut connection = server.open().await;
        connection.send(&request).await;
        assert_eq!(connection.head().await.header("content-type"), "text/event-stream");
        assert_eq!(event(&mut connection).await["params"]["message"], "all");
        assert_eq!(event(&mut connection).await["result"]["content"][0]["text"], "whole");
        assert_eq!(in_time(connection.chunk()).await, None);
    }
}

#[tokio::test]
async fn a_stream_ends_with_its_call() {
    let server = start(HttpOptions::default()).await;
    let [request, _] = stateless("keep_context");
    let mut connection = server.open().await;
    connection.send(&request).await;
    connection.head().await;
    assert_eq!(event(&mut connection).await["params"]["message"], "all");
    assert_eq!(event(&mut connection).await["result"]["content"][0]["text"], "done");
    assert_eq!(in_time(connection.chunk()).await, None);
    server.release();
}

#[tokio::test]
async fn a_call_that_streams_ends_with_its_connection() {
    let mut server = start(HttpOptions::default()).await;
    for request in stateless("halfway") {
        let mut connection = server.open().await;
        connection.send(&request).await;
        connection.head().await;
        event(&mut connection).await;
        assert_eq!(server.report().await, "started");
        drop(connection);
        assert_eq!(server.report().await, "dropped");
    }
}

#[tokio::test]
async fn a_stream_is_a_request_in_flight_until_it_ends() {
    let mut server = start(HttpOptions::default().max_requests(1)).await;
    let [request, _] = stateless("halfway");
    let mut connection = server.open().await;
    connection.send(&request).await;
    read_half(&mut connection).await;
    assert_eq!(server.request(&RawRequest::call(1, "whoami")).await.status(), 503);
    assert_eq!(server.report().await, "started");
    server.release();
    event(&mut connection).await;
    assert_eq!(in_time(connection.chunk()).await, None);
    assert_eq!(server.request(&RawRequest::call(1, "whoami")).await.status(), 200);
}

#[tokio::test]
async fn a_stream_may_finish_when_the_server_ends() {
    let mut server = start(HttpOptions::default()).await;
    let [request, _] = stateless("halfway");
    let mut connection = server.open().await;
    connection.send(&request).await;
    read_half(&mut connection).await;
    server.end.cancel();
    server.release();
    assert_eq!(event(&mut connection).await["result"]["content"][0]["text"], "whole");
    in_time(&mut server.ended).await.expect("no panic").expect("no error");
}

#[tokio::test]
async fn a_stateless_client_gets_questions_as_a_result_and_calls_again() {
    let server = start(HttpOptions::default()).await;
    for request in stateless("careful") {
        let response = server.request(&request).await;
        assert_eq!(response.head.header("content-type"), "application/json");
        let result = &response.json()["result"];
        assert_eq!(result["resultType"], "input_required");
        let again = request.with_params(|params| {
            params["requestState"] = result["requestState"].clone();
            params["inputResponses"] =
                json!({"sure": {"action": "accept", "content": {"sure": true}}});
        });
        let done = server.request(&again).await.json();
        assert_eq!(done["result"]["content"][0]["text"], "did it", "{done}");
    }
}

#[tokio::test]
async fn a_client_with_a_session_is_asked_on_the_stream_of_its_call() {
    let server = start(HttpOptions::default()).await;
    let session = server.session_with_capabilities(&json!({"elicitation": {}})).await;
    let mut connection = server.open().await;
    connection.send(&RawRequest::call_within(&session, 1, "careful")).await;
    assert_eq!(connection.head().await.header("content-type"), "text/event-stream");
    let question = event(&mut connection).await;
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Sure?");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {
        "action": "accept", "content": {"sure": true}
    }});
    assert_eq!(server.request(&RawRequest::within(&session, &answer)).await.status(), 202);
    assert_eq!(event(&mut connection).await["result"]["content"][0]["text"], "did it");
    assert_eq!(in_time(connection.chunk()).await, None);
}

#[tokio::test]
async fn a_subscription_is_answered_when_the_server_ends() {
    let mut server = start(HttpOptions::default()).await;
    let listen = RawRequest::stateless(
        5,
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    let mut connection = server.open().await;
    connection.send(&listen).await;
    assert_eq!(connection.head().await.header("content-type"), "text/event-stream");
    assert_eq!(event(&mut connection).await["method"], "notifications/subscriptions/acknowledged");
    server.end.cancel();
    let last = event(&mut connection).await;
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(5), &json!("complete")));
    assert_eq!(in_time(connection.chunk()).await, None);
    in_time(&mut server.ended).await.expect("no panic").expect("no error");
}
