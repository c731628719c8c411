//! Limits on the number and the lifetime of sessions.

use super::client::RawRequest;
use super::test_server::{TestServer, in_time};
use crate::support::StoppedClock;
use std::time::Duration;
use tokio::time::advance;
use tool_runtime::http::HttpOptions;

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

/// Shorter than any other limit of a server.
const IDLE: Duration = Duration::from_millis(50);

#[tokio::test(start_paused = true)]
async fn an_idle_session_expires() {
    let _clock = StoppedClock::hold();
    let options = HttpOptions::default().session_idle(IDLE).max_sessions(1);
    let server = TestServer::start(options).await;
    // The client does not finish the handshake.
    let session =
        server.request(&RawRequest::initialize()).await.head.header("mcp-session-id").to_owned();
    assert_eq!(server.request(&RawRequest::initialize()).await.status(), 503);
    advance(IDLE).await;
    in_time(async { while server.request(&RawRequest::initialize()).await.status() != 200 {} })
        .await;
    assert_eq!(server.request(&RawRequest::call_within(&session, 1, "whoami")).await.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn a_call_keeps_its_session() {
    let _clock = StoppedClock::hold();
    let mut server = TestServer::start(HttpOptions::default().session_idle(IDLE)).await;
    let session = server.session(&[]).await;
    let mut connection = server.open().await;
    connection.send(&RawRequest::call_within(&session, 1, "wait")).await;
    assert_eq!(server.report().await, "started");
    // Another session is opened meanwhile, and expires first.
    let other = server.session(&[]).await;
    advance(IDLE).await;
    in_time(async {
        // A call before the session has expired keeps it for longer.
        while server.request(&RawRequest::call_within(&other, 1, "whoami")).await.status() != 404 {
            advance(IDLE).await;
        }
    })
    .await;
    server.release();
    let answer = in_time(connection.answer()).await;
    assert_eq!(answer.last_event()["result"]["content"][0]["text"], "done");
}
