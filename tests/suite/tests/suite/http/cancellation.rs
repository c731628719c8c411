//! Ends of calls: with their client, or with the server.

use super::client::RawRequest;
use super::test_server::{TestServer, in_time};
use crate::support::StoppedClock;
use serde_json::json;
use std::time::Duration;
use tokio::time::advance;
use tool_runtime::http::HttpOptions;

/// Steps of a clock until a call in a session gets its stream.
const STEP: Duration = Duration::from_millis(1);

#[tokio::test]
async fn a_call_ends_with_its_connection() {
    let mut server = TestServer::start(HttpOptions::default()).await;
    let mut connection = server.open().await;
    connection.send(&RawRequest::call(1, "wait")).await;
    assert_eq!(server.report().await, "started");
    drop(connection);
    assert_eq!(server.report().await, "dropped");
}

#[tokio::test]
async fn a_client_that_closes_its_output_gets_its_answer() {
    let mut server = TestServer::start(HttpOptions::default()).await;
    let session = server.session(&[]).await;
    for request in [RawRequest::call(1, "wait"), RawRequest::call_within(&session, 1, "wait")] {
        let mut connection = server.open().await;
        connection.send(&request).await;
        assert_eq!(server.report().await, "started");
        connection.half_close().await;
        server.release();
        let answer = in_time(connection.answer()).await;
        assert_eq!(answer.last_event()["result"]["content"][0]["text"], "done");
        assert_eq!(server.report().await, "dropped");
        assert_eq!(in_time(connection.rest()).await, "");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_client_that_closes_its_sending_side_gets_its_answer() {
    let server = TestServer::start(HttpOptions::default()).await;
    let session = server.session(&[]).await;
    let list = RawRequest::stateless(1, "tools/list", json!({}));
    for request in
        [RawRequest::call(1, "whoami"), list, RawRequest::call_within(&session, 1, "whoami")]
    {
        let mut connection = server.open().await;
        connection.send_last(&request).await;
        assert!(in_time(connection.answer()).await.last_event()["result"].is_object());
        assert_eq!(in_time(connection.rest()).await, "");
    }
}

#[tokio::test]
async fn an_older_call_without_a_session_ends_with_its_connection() {
    let mut server = TestServer::start(HttpOptions::default().sessions(false)).await;
    let mut connection = server.open().await;
    connection.send(&RawRequest::call_within("", 1, "wait")).await;
    assert_eq!(server.report().await, "started");
    drop(connection);
    assert_eq!(server.report().await, "dropped");
}

#[tokio::test]
async fn a_call_in_a_session_ends_when_its_client_does_not_reconnect() {
    let options = HttpOptions::default().resume_timeout(Duration::from_millis(10));
    let mut server = TestServer::start(options).await;
    let session = server.session(&[]).await;
    let mut connection = server.open().await;
    connection.send(&RawRequest::call_within(&session, 1, "wait")).await;
    assert_eq!(connection.head().await.status, 200);
    assert_eq!(server.report().await, "started");
    drop(connection);
    assert_eq!(server.report().await, "dropped");
    // The session is still usable.
    let call = RawRequest::call_within(&session, 2, "whoami");
    assert_eq!(server.request(&call).await.json()["result"]["isError"], false);
}

#[tokio::test]
async fn calls_of_disconnected_clients_are_limited() {
    let options = HttpOptions::default().resume_timeout(Duration::from_secs(3600));
    let mut server = TestServer::start(options).await;
    let session = server.session(&[]).await;
    let mut connections = Vec::new();
    for id in 0..18 {
        let mut connection = server.open().await;
        connection.send(&RawRequest::call_within(&session, id, "wait")).await;
        assert_eq!(server.report().await, "started");
        connections.push(connection);
    }
    for connection in &mut connections {
        assert_eq!(connection.head().await.status, 200);
    }
    drop(connections);
    assert_eq!([server.report().await, server.report().await], ["dropped", "dropped"]);
    server.release();
    assert_eq!(server.report().await, "dropped");
    assert!(server.is_quiet(), "the others still run");
}

#[tokio::test(start_paused = true)]
async fn a_reconnected_client_gets_its_answer() {
    let clock = StoppedClock::hold();
    let resume = Duration::from_millis(300);
    let options = HttpOptions::default().resume_timeout(resume);
    let mut server = TestServer::start(options).await;
    let session = server.session(&[]).await;
    let mut connection = server.open().await;
    connection.send(&RawRequest::call_within(&session, 1, "wait")).await;
    assert_eq!(server.report().await, "started");
    assert_eq!(clock.advance_until(STEP, connection.head()).await.status, 200);
    let event = connection.chunk().await.expect("an event to come back to");
    let id = event.lines().find_map(|line| line.strip_prefix("id: ")).expect("an id").to_owned();
    drop(connection);
    let mut again = server.open().await;
    again.send(&RawRequest::listen(&session).with("last-event-id", &id)).await;
    assert_eq!(again.head().await.status, 200);
    // Longer than a call continues after its client has disconnected.
    advance(2 * resume).await;
    assert_eq!(server.request(&RawRequest::call(2, "whoami")).await.status(), 200);
    assert!(server.is_quiet(), "the call still runs");
    server.release();
    let mut printed = String::new();
    while let Some(chunk) = in_time(again.chunk()).await {
        printed.push_str(&chunk);
    }
    assert!(printed.contains(r#""text":"done""#), "{printed}");
}

#[tokio::test(start_paused = true)]
async fn a_client_resumes_a_stream_that_the_server_closed() {
    let clock = StoppedClock::hold();
    let duration = Duration::from_secs(3600);
    let options = HttpOptions::default().max_stream_duration(duration);
    let mut server = TestServer::start(options).await;
    let session = server.session(&[]).await;
    let mut connection = server.open().await;
    connection.send(&RawRequest::call_within(&session, 1, "wait")).await;
    assert_eq!(server.report().await, "started");
    assert_eq!(clock.advance_until(STEP, connection.head()).await.status, 200);
    let mut event = connection.chunk().await.expect("an event to come back to");
    advance(duration).await;
    while let Some(chunk) = in_time(connection.chunk()).await {
        event.push_str(&chunk);
    }
    let id = event.lines().find_map(|line| line.strip_prefix("id: ")).expect("an id");
    assert!(event.contains("retry: "), "{event}");
    server.release();
    let mut again = server.open().await;
    let answer =
        in_time(again.request(&RawRequest::listen(&session).with("last-event-id", id))).await;
    assert_eq!(answer.last_event()["result"]["content"][0]["text"], "done");
}

#[tokio::test]
async fn a_shutdown_ends_listeners_and_lets_calls_finish() {
    let mut server = TestServer::start(HttpOptions::default()).await;
    let session = server.session(&[]).await;
    let mut listener = server.open().await;
    listener.send(&RawRequest::listen(&session)).await;
    assert_eq!(listener.head().await.status, 200);
    let mut idle = server.open().await;
    assert_eq!(idle.request(&RawRequest::call(1, "whoami")).await.status(), 200);
    let mut call = server.open().await;
    call.send(&RawRequest::call(1, "wait")).await;
    assert_eq!(server.report().await, "started");
    server.end.cancel();
    in_time(async { while listener.chunk().await.is_some() {} }).await;
    assert_eq!(in_time(idle.rest()).await, "");
    server.release();
    let answer = in_time(call.answer()).await.json();
    assert_eq!(answer["result"]["content"][0]["text"], "done");
    in_time(&mut server.ended).await.expect("no panic").expect("no error");
}

#[tokio::test]
async fn a_call_that_does_not_finish_ends_with_the_server() {
    let drain = Duration::from_millis(50);
    let mut server = TestServer::start_for(HttpOptions::default(), drain).await;
    let session = server.session(&[]).await;
    let mut connections = [server.open().await, server.open().await];
    connections[0].send(&RawRequest::call(1, "wait")).await;
    assert_eq!(server.report().await, "started");
    connections[1].send(&RawRequest::call_within(&session, 1, "wait")).await;
    assert_eq!(server.report().await, "started");
    server.end.cancel();
    in_time(&mut server.ended).await.expect("no panic").expect("no error");
    assert_eq!([server.report().await, server.report().await], ["dropped", "dropped"]);
}
