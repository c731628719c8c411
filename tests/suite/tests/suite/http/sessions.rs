//! Limits on the number and the lifetime of sessions.

use super::client::RawRequest;
use super::test_server::{TestServer, in_time};
use std::time::Duration;
use tool_runtime::HttpOptions;

#[tokio::test]
async fn sessions_are_limited() {
    let server = TestServer::start(HttpOptions::default().max_sessions(2)).await;
    let first = server.session(&[]).await;
    server.session(&[]).await;
    let rejected = server.request(&RawRequest::initialize()).await;
    assert_eq!((rejected.status(), rejected.head.header("retry-after")), (503, "1"));
    assert!(rejected.body.contains("2 sessions"), "{rejected:?}");
    // Clients without a session are still served.
    assert_eq!(server.request(&RawRequest::call(1, "whoami")).await.status(), 200);
    let end = RawRequest::new("DELETE", "/mcp").with("mcp-session-id", &first);
    assert_eq!(server.request(&end).await.status(), 204);
    server.session(&[]).await;
}

#[tokio::test]
async fn an_idle_session_expires() {
    let idle = Duration::from_millis(50);
    let server = TestServer::start(HttpOptions::default().session_idle(idle).max_sessions(1)).await;
    // The client does not finish the handshake.
    let session =
        server.request(&RawRequest::initialize()).await.head.header("mcp-session-id").to_owned();
    in_time(async { while server.request(&RawRequest::initialize()).await.status() != 200 {} })
        .await;
    assert_eq!(server.request(&RawRequest::call_within(&session, 1, "whoami")).await.status(), 404);
}

#[tokio::test]
async fn a_call_keeps_its_session() {
    let idle = Duration::from_millis(50);
    let mut server = TestServer::start(HttpOptions::default().session_idle(idle)).await;
    let session = server.session(&[]).await;
    let mut connection = server.open().await;
    connection.send(&RawRequest::call_within(&session, 1, "wait")).await;
    assert_eq!(server.report().await, "started");
    // Another session is opened meanwhile, and expires first.
    let other = server.session(&[]).await;
    in_time(async {
        while server.request(&RawRequest::call_within(&other, 1, "whoami")).await.status() != 404 {
            tokio::time::sleep(idle * 4).await;
        }
    })
    .await;
    server.release();
    let answer = in_time(connection.answer()).await;
    assert_eq!(answer.last_event()["result"]["content"][0]["text"], "done");
}
