//! Limits on the number and the lifetime of sessions.

use super::client::RawRequest;
use super::test_server::{Served, in_time};
use std::time::Duration;
use tool_runtime::HttpOptions;

#[tokio::test]
async fn sessions_are_limited() {
    let served = Served::start(HttpOptions::default().max_sessions(2)).await;
    let first = served.session(&[]).await;
    served.session(&[]).await;
    let rejected = served.request(&RawRequest::initialize()).await;
    assert_eq!((rejected.status(), rejected.head.header("retry-after")), (503, "1"));
    assert!(rejected.body.contains("2 sessions"), "{rejected:?}");
    // Clients without a session are still served.
    assert_eq!(served.request(&RawRequest::call(1, "whoami")).await.status(), 200);
    let end = RawRequest::new("DELETE", "/mcp").with("mcp-session-id", &first);
    assert_eq!(served.request(&end).await.status(), 204);
    served.session(&[]).await;
}

#[tokio::test]
async fn an_idle_session_expires() {
    let idle = Duration::from_millis(50);
    let served = Served::start(HttpOptions::default().session_idle(idle).max_sessions(1)).await;
    // The client does not finish the handshake.
    let session =
        served.request(&RawRequest::initialize()).await.head.header("mcp-session-id").to_owned();
    in_time(async { while served.request(&RawRequest::initialize()).await.status() != 200 {} })
        .await;
    assert_eq!(served.request(&RawRequest::call_within(&session, 1, "whoami")).await.status(), 404);
}

#[tokio::test]
async fn a_call_keeps_its_session() {
    let idle = Duration::from_millis(50);
    let mut served = Served::start(HttpOptions::default().session_idle(idle)).await;
    let session = served.session(&[]).await;
    let mut connection = served.open().await;
    connection.send(&RawRequest::call_within(&session, 1, "wait")).await;
    assert_eq!(served.report().await, "started");
    // Another session is opened meanwhile, and expires first.
    let other = served.session(&[]).await;
    in_time(async {
        while served.request(&RawRequest::call_within(&other, 1, "whoami")).await.status() != 404 {
            tokio::time::sleep(idle * 4).await;
        }
    })
    .await;
    served.release();
    let answer = in_time(connection.answer()).await;
    assert_eq!(answer.last_event()["result"]["content"][0]["text"], "done");
}
