//! Limits on concurrent requests and on slow clients.

use super::client::RawRequest;
use super::test_server::{TestServer, in_time};
use crate::support::StoppedClock;
use std::time::Duration;
use tool_runtime::http::HttpOptions;

const SOON: Duration = Duration::from_millis(100);

#[tokio::test]
async fn requests_in_flight_are_limited() {
    let mut server = TestServer::start(HttpOptions::default().max_requests(1)).await;
    let session = server.session(&[]).await;
    for request in [RawRequest::call(1, "wait"), RawRequest::call_within(&session, 1, "wait")] {
        let mut connection = server.open().await;
        connection.send(&request).await;
        assert_eq!(server.report().await, "started");
        let rejected = server.request(&RawRequest::call(1, "whoami")).await;
        assert_eq!((rejected.status(), rejected.head.header("retry-after")), (503, "1"));
        server.release();
        assert_eq!(in_time(connection.answer()).await.status(), 200);
        assert_eq!(server.report().await, "dropped");
        assert_eq!(server.request(&RawRequest::call(1, "whoami")).await.status(), 200);
    }
}

#[tokio::test]
async fn busy_connections_are_limited() {
    let mut server = TestServer::start(HttpOptions::default().max_connections(1)).await;
    let mut first = server.open().await;
    first.send(&RawRequest::call(1, "wait")).await;
    assert_eq!(server.report().await, "started");
    let mut second = server.open().await;
    let rejected = in_time(second.rest()).await;
    assert!(rejected.starts_with("HTTP/1.1 503 "), "{rejected}");
    let body = rejected.split("\r\n\r\n").nth(1).expect("a body");
    assert!(rejected.contains(&format!("content-length: {}\r\n", body.len())), "{rejected}");
    server.release();
    assert_eq!(in_time(first.answer()).await.status(), 200);
    assert_eq!(in_time(first.request(&RawRequest::call(2, "whoami"))).await.status(), 200);
}

#[tokio::test]
async fn an_idle_connection_is_closed_for_a_new_one() {
    let server = TestServer::start(HttpOptions::default().max_connections(1)).await;
    let mut silent = server.open().await;
    let mut slow = server.open().await;
    assert_eq!(in_time(silent.rest()).await, "");
    slow.write(b"POST /mcp HTTP/1.1\r\nhost: local").await;
    let mut idle = server.open().await;
    assert_eq!(in_time(slow.rest()).await, "");
    assert_eq!(in_time(idle.request(&RawRequest::call(1, "whoami"))).await.status(), 200);
    assert_eq!(server.request(&RawRequest::new("GET", "/healthz")).await.status(), 200);
    assert_eq!(in_time(idle.rest()).await, "");
}

#[tokio::test]
async fn the_longest_idle_connection_is_closed_first() {
    let server = TestServer::start(HttpOptions::default().max_connections(2)).await;
    let mut used = server.open().await;
    assert_eq!(in_time(used.request(&RawRequest::call(1, "whoami"))).await.status(), 200);
    let mut silent = server.open().await;
    assert_eq!(in_time(used.request(&RawRequest::call(2, "whoami"))).await.status(), 200);
    let mut new = server.open().await;
    assert_eq!(in_time(new.request(&RawRequest::call(1, "whoami"))).await.status(), 200);
    assert_eq!(in_time(silent.rest()).await, "");
    assert_eq!(in_time(used.request(&RawRequest::call(3, "whoami"))).await.status(), 200);
}

/// The beginning of a message without its rest.
fn incomplete() -> RawRequest {
    RawRequest::call(1, "whoami").with("content-length", "100000")
}

#[tokio::test]
async fn incomplete_messages_do_not_block_others() {
    let server = TestServer::start(HttpOptions::default().max_requests(1)).await;
    let mut connections = [server.open().await, server.open().await];
    for connection in &mut connections {
        connection.send(&incomplete()).await;
    }
    let [one, other] = &mut connections;
    let rejected = in_time(async {
        tokio::select! {
            answer = one.answer() => answer,
            answer = other.answer() => answer,
        }
    })
    .await;
    assert_eq!((rejected.status(), rejected.head.header("retry-after")), (503, "1"));
    // One of them still holds the only slot for an arriving message.
    assert_eq!(server.request(&RawRequest::call(1, "whoami")).await.status(), 200);
    assert_eq!(server.request(&RawRequest::new("GET", "/healthz")).await.status(), 200);
}

#[tokio::test]
async fn a_message_may_arrive_in_pieces() {
    let server = TestServer::start(HttpOptions::default()).await;
    let mut connection = server.open().await;
    let text = "x".repeat(100_000);
    let params = serde_json::json!({"name": "echo", "arguments": {"text": text}});
    let bytes = RawRequest::stateless(1, "tools/call", params).bytes();
    for piece in bytes.chunks(30_000) {
        connection.write(piece).await;
        tokio::task::yield_now().await;
    }
    let answer = in_time(connection.answer()).await.json();
    assert_eq!(answer["result"]["content"][0]["text"], text);
}

#[tokio::test]
async fn a_body_has_a_time_limit() {
    let server = TestServer::start(HttpOptions::default().body_timeout(SOON)).await;
    let mut connection = server.open().await;
    connection.send(&RawRequest::call(1, "whoami").with("content-length", "100000")).await;
    assert_eq!(in_time(connection.answer()).await.status(), 408);
}

#[tokio::test]
async fn headers_have_a_time_limit() {
    let server = TestServer::start(HttpOptions::default().idle_timeout(SOON)).await;
    let mut connection = server.open().await;
    connection.write(b"POST /mcp HTTP/1.1\r\nhost: local").await;
    in_time(connection.rest()).await;
    let mut silent = server.open().await;
    in_time(silent.rest()).await;
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_closed_and_a_busy_one_is_not() {
    let clock = StoppedClock::hold();
    let mut server = TestServer::start(HttpOptions::default().idle_timeout(SOON)).await;
    let mut busy = server.open().await;
    busy.send(&RawRequest::call(1, "wait")).await;
    assert_eq!(server.report().await, "started");
    let mut idle = server.open().await;
    assert_eq!(idle.request(&RawRequest::call(1, "whoami")).await.status(), 200);
    clock.advance_until(SOON, idle.rest()).await;
    server.release();
    assert_eq!(in_time(busy.answer()).await.status(), 200);
}

#[tokio::test]
async fn writing_to_a_client_has_a_time_limit() {
    let server = TestServer::start(HttpOptions::default().write_timeout(SOON)).await;
    let mut connection = server.open().await;
    let text = "x".repeat(3 << 20);
    let params = serde_json::json!({"name": "echo", "arguments": {"text": text}});
    let request = RawRequest::stateless(1, "tools/call", params);
    // More than the buffers between client and server hold.
    let sent = in_time(connection.send_until_closed(&request, 20)).await;
    assert!(sent < 20, "the connection was closed after {sent} requests");
}
