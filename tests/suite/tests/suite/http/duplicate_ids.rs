//! Duplicate ids of requests in a session, and calls that run when their session ends.

use super::client::{Answer, RawRequest};
use super::test_server::{TestServer, in_time};
use crate::support::StoppedClock;
use serde_json::{Value, json};
use std::time::Duration;
use tool_runtime::http::HttpOptions;

fn list(session: &str, id: &Value) -> RawRequest {
    RawRequest::within(session, &json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}))
}

fn text(answer: &Answer) -> Value {
    answer.last_event()["result"]["content"][0]["text"].clone()
}

#[tokio::test]
async fn an_id_is_rejected_while_a_request_with_it_runs() {
    let mut server = TestServer::start(HttpOptions::default()).await;
    let session = server.session(&[]).await;
    let mut connection = server.open().await;
    connection.send(&RawRequest::call_within(&session, 3, "wait")).await;
    assert_eq!(server.report().await, "started");
    let again = RawRequest::call_within(&session, 3, "whoami");
    for request in [again.clone(), again.clone().through_rmcp(), list(&session, &json!(3))] {
        let rejected = server.request(&request).await;
        assert_eq!(rejected.status(), 400, "{rejected:?}");
        let error = rejected.json();
        assert_eq!((&error["id"], &error["error"]["code"]), (&json!(3), &json!(-32600)));
        assert!(error["error"]["message"].as_str().expect("a string").contains("its own id"));
    }
    // The same id as a string is a different id, and sessions have separate ids.
    assert_eq!(server.request(&list(&session, &json!("3"))).await.status(), 200);
    let other = server.session(&[]).await;
    assert_eq!(server.request(&list(&other, &json!(3))).await.status(), 200);
    server.release();
    assert_eq!(text(&in_time(connection.answer()).await), "done");
    assert_eq!(text(&server.request(&again).await), "anonymous");
}

#[tokio::test]
async fn an_id_is_free_after_its_request_was_cancelled() {
    let options = HttpOptions::default().resume_timeout(Duration::ZERO);
    let mut server = TestServer::start(options).await;
    let session = server.session(&[]).await;
    let wait = RawRequest::call_within(&session, 3, "wait");
    let mut connection = server.open().await;
    connection.send(&wait).await;
    assert_eq!(server.report().await, "started");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
        "requestId": 3
    }});
    assert_eq!(server.request(&RawRequest::within(&session, &cancel)).await.status(), 202);
    assert_eq!(server.report().await, "dropped");
    let mut connection = server.open().await;
    connection.send(&wait).await;
    assert_eq!(server.report().await, "started");
    // A client that disconnects cancels its request, too.
    drop(connection);
    assert_eq!(server.report().await, "dropped");
    assert_eq!(server.request(&list(&session, &json!(3))).await.status(), 200);
}

/// rmcp alone would wait for them for some seconds, which the clock does not reach.
#[tokio::test(start_paused = true)]
async fn calls_end_with_their_session() {
    let clock = StoppedClock::hold();
    let mut server = TestServer::start(HttpOptions::default()).await;
    let session = server.session(&[]).await;
    for (id, request) in (1..).zip([
        RawRequest::call_within(&session, 1, "wait"),
        RawRequest::call_within(&session, 2, "wait").through_rmcp(),
    ]) {
        let mut connection = server.open().await;
        connection.send(&request).await;
        assert_eq!(server.report().await, "started");
        let head = clock.advance_until(Duration::from_millis(1), connection.head()).await;
        assert_eq!(head.status, 200, "{id}");
        // The client may have disconnected.
        drop(connection);
    }
    let end = RawRequest::new("DELETE", "/mcp").with("mcp-session-id", &session);
    assert_eq!(server.request(&end).await.status(), 204);
    for _ in 0..2 {
        assert_eq!(server.report().await, "dropped");
    }
}
