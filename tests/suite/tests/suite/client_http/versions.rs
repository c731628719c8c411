//! Calls in each protocol version: in sessions, without sessions, and without `initialize`.

use super::super::support::ProgressRecorder;
use super::remote_server::{
    Probe, RecordedRequest, RemoteServer, call, connected, in_time, pass_through, stateful, tools,
};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::McpState;
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;

type Intercept = fn(&RecordedRequest) -> Option<Response>;

/// Each kind of connection, and its version.
fn connection_kinds() -> [(&'static str, HttpOptions, Intercept); 3] {
    let options = HttpOptions::default;
    [
        ("2026-07-28", options(), pass_through as Intercept),
        ("2025-11-25", options(), stateful),
        ("2025-11-25", options().sessions(false), stateful),
    ]
}

#[tokio::test]
async fn tools_are_listed_and_called_with_progress() {
    for (version, options, intercept) in connection_kinds() {
        let probe = Probe::new();
        let remote = RemoteServer::start(&tools(&probe), options, intercept);
        let (pool, manager) = connected(&remote).await;
        let status = manager.server("remote").unwrap();
        assert_eq!((status.state, status.tools), (McpState::Ready, 4));
        assert_eq!(status.protocol.as_deref(), Some(version));
        assert_eq!(call(&pool, "hit", json!({})).await.observation().to_text(), "1");

        let recorder = Arc::new(ProgressRecorder::default());
        let context = pool.context().with_peer(recorder.clone());
        in_time(pool.call_with(ToolCall::new("remote.count", "{}"), &context)).await;
        let last = recorder.0.lock().unwrap().last().cloned().expect("progress is received");
        assert_eq!((last.done, last.message.as_deref()), (3.0, Some("step 3")), "{version}");
        manager.close().await;
    }
}

#[tokio::test]
async fn an_abandoned_call_is_cancelled_at_the_server() {
    // Without a session, a server of 2025-11-25 cannot be cancelled.
    for (version, options, intercept) in connection_kinds().into_iter().take(2) {
        let probe = Probe::new();
        let remote = RemoteServer::start(&tools(&probe), options, intercept);
        let (pool, _manager) = connected(&remote).await;
        tokio::select! {
            _ = pool.call(ToolCall::new("remote.wait", "{}")) => panic!("it waits"),
            report = probe.report() => assert_eq!(report, "started"),
        }
        assert_eq!(probe.report().await, "dropped", "{version}");
        assert_eq!(call(&pool, "hit", json!({})).await.observation().to_text(), "2", "{version}");
    }
}

#[tokio::test]
async fn changes_of_the_list_arrive() {
    for (version, options, intercept) in connection_kinds().into_iter().take(2) {
        let remote_pool = tools(&Probe::new());
        let remote = RemoteServer::start(&remote_pool, options, intercept);
        let (pool, _manager) = connected(&remote).await;
        let mut changes = pool.changes();
        let late = Tool::builder("late", "Come late.").handler(|| async { "here" });
        remote_pool.add_tools(&Source::owner("late"), [late]).unwrap();
        while pool.snapshot().get("remote.late").is_none() {
            in_time(changes.next()).await.unwrap();
        }
        let late = call(&pool, "late", json!({})).await;
        assert_eq!(late.observation().to_text(), "here", "{version}");
    }
}

#[tokio::test]
async fn changes_arrive_after_a_broken_stream() {
    type Answer = fn() -> Response;
    let broken: [Answer; 2] = [
        || StatusCode::SERVICE_UNAVAILABLE.into_response(),
        || {
            let event = format!("data: {}\n\n", "x".repeat(17 << 20));
            ([("content-type", "text/event-stream")], event).into_response()
        },
    ];
    for answer in broken {
        let is_broken = AtomicBool::new(true);
        let remote_pool = tools(&Probe::new());
        let remote = RemoteServer::start(&remote_pool, HttpOptions::default(), move |seen| {
            let is_first = seen.method == "GET" && is_broken.swap(false, Ordering::Relaxed);
            if is_first { Some(answer()) } else { stateful(seen) }
        });
        let (pool, _manager) = connected(&remote).await;
        let opened = async {
            while remote.count(|seen| seen.method == "GET") < 2 {
                tokio::task::yield_now().await;
            }
        };
        in_time(opened).await;
        let mut changes = pool.changes();
        let late = Tool::builder("late", "Come late.").handler(|| async { "here" });
        remote_pool.add_tools(&Source::owner("late"), [late]).unwrap();
        while pool.snapshot().get("remote.late").is_none() {
            in_time(changes.next()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_session_is_ended_when_the_manager_is_closed() {
    let remote = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), stateful);
    let (_pool, manager) = connected(&remote).await;
    in_time(manager.close()).await;
    let seen = remote.seen();
    let deletion = seen.iter().find(|seen| seen.method == "DELETE").expect("it is ended");
    assert!(!deletion.header("mcp-session-id").is_empty());
}

#[tokio::test]
async fn a_server_that_hangs_when_a_session_ends_is_not_awaited() {
    let probe = Probe::new();
    let intercept = |seen: &RecordedRequest| {
        if seen.method == "DELETE" {
            // Kept until the answer is sent.
            let endless = futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>();
            return Some(Response::new(axum::body::Body::from_stream(endless)));
        }
        stateful(seen)
    };
    let remote = RemoteServer::start(&tools(&probe), HttpOptions::default(), intercept);
    let (_pool, manager) = connected(&remote).await;
    in_time(manager.close()).await;
    assert_eq!(remote.count(|seen| seen.method == "DELETE"), 1);
}
