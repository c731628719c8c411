//! Servers that disconnect, restart, lose sessions, and hang.

use super::remote_server::{
    Place, Probe, RecordedRequest, RemoteServer, builder, builder_of, call, connected, in_time,
    pass_through, stateful, tools, until,
};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Response};
use serde_json::json;
use std::time::Duration;
use tool_runtime::ErrorClass;
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::{McpServerConfig, McpState};
use tool_runtime::prelude::*;

type Intercept = fn(&RecordedRequest) -> Option<Response>;

fn is_retrying(state: &McpState) -> bool {
    matches!(state, McpState::Retrying { .. })
}

#[tokio::test]
async fn a_restarted_server_is_called_again() {
    for intercept in [pass_through as Intercept, stateful] {
        let probe = Probe::new();
        let remote = RemoteServer::start(&tools(&probe), HttpOptions::default(), intercept);
        let (pool, manager) = connected(&remote).await;
        assert_eq!(call(&pool, "hit", json!({})).await.observation().to_text(), "1");
        let place = remote.kill();
        let _server =
            RemoteServer::start_at(place, &tools(&probe), HttpOptions::default(), intercept);
        until(&manager, |state| *state == McpState::Ready).await;
        // An old connection may break at the first call, which is not sent twice.
        let mut result = call(&pool, "hit", json!({})).await;
        if result.error().is_some_and(|error| error.class() == ErrorClass::Indeterminate) {
            result = call(&pool, "hit", json!({})).await;
        }
        assert_eq!(result.observation().to_text(), "2");
    }
}

#[tokio::test]
async fn a_call_that_kills_its_server_is_not_repeated() {
    for intercept in [pass_through as Intercept, stateful] {
        let probe = Probe::new();
        let remote = RemoteServer::start(&tools(&probe), HttpOptions::default(), intercept);
        let (pool, manager) = connected(&remote).await;
        let calling = pool.clone();
        let waiting = tokio::spawn(async move { call(&calling, "wait", json!({})).await });
        assert_eq!(probe.report().await, "started");
        let place = remote.kill();
        let result = in_time(waiting).await.unwrap();
        let error = result.error().unwrap();
        assert_eq!(error.class(), ErrorClass::Indeterminate, "{error}");
        let _server =
            RemoteServer::start_at(place, &tools(&probe), HttpOptions::default(), intercept);
        until(&manager, |state| *state == McpState::Ready).await;
        assert_eq!(probe.hits(), 1);
    }
}

#[tokio::test]
async fn a_dead_server_is_detected_without_a_call() {
    for intercept in [pass_through as Intercept, stateful] {
        let remote = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), intercept);
        let (pool, manager) = connected(&remote).await;
        // The stream for notifications is open once its request has arrived.
        let is_stream =
            |seen: &RecordedRequest| seen.method == "GET" || seen.calls("subscriptions/listen");
        while remote.count(is_stream) == 0 {
            tokio::task::yield_now().await;
        }
        let _place = remote.kill();
        until(&manager, is_retrying).await;
        let error = call(&pool, "hit", json!({})).await;
        let error = error.error().unwrap();
        assert_eq!(error.class(), ErrorClass::Transient, "{error}");
    }
}

#[tokio::test]
async fn an_expired_session_is_reopened_without_repeating_calls() {
    let probe = Probe::new();
    let remote = RemoteServer::start(&tools(&probe), HttpOptions::default(), |seen| {
        // The session is discarded with the call that the server rejected.
        let forgets = seen.calls("tools/call") && seen.header("x-forget") == "yes";
        let gone = StatusCode::NOT_FOUND;
        if forgets {
            return Some(gone.into_response());
        }
        stateful(seen)
    });
    let pool = ToolPool::builder().build().unwrap();
    let forgets = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let shared = std::sync::Arc::clone(&forgets);
    let manager = builder(&remote.url()).headers("remote", move |_| {
        let forget = shared.swap(false, std::sync::atomic::Ordering::Relaxed);
        async move { Ok(vec![("X-Forget".to_owned(), if forget { "yes" } else { "no" }.into())]) }
    });
    let _manager = in_time(manager.connect(&pool)).await.unwrap();
    // The stream for notifications is requested before our call.
    while remote.count(|seen| seen.method == "GET") == 0 {
        tokio::task::yield_now().await;
    }
    forgets.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(call(&pool, "hit", json!({})).await.observation().to_text(), "1");
    assert_eq!(remote.count(|seen| seen.calls("initialize")), 2);
    assert!(remote.count(|seen| seen.calls("tools/list")) >= 2);
    assert_eq!(remote.count(|seen| seen.calls("tools/call")), 2);
}

#[tokio::test]
async fn a_call_that_always_gets_404_reports_it() {
    let probe = Probe::new();
    let remote = RemoteServer::start(&tools(&probe), HttpOptions::default(), |seen| {
        let is_call = seen.calls("tools/call");
        if is_call { Some(StatusCode::NOT_FOUND.into_response()) } else { stateful(seen) }
    });
    let (pool, _manager) = connected(&remote).await;
    let result = call(&pool, "hit", json!({})).await;
    let error = result.error().unwrap();
    assert!(
        error.message().contains("did not take `hit`") && error.message().contains("404"),
        "{error}"
    );
    assert_eq!(remote.count(|seen| seen.calls("tools/call")), 2);
}

#[tokio::test]
async fn a_session_reported_unknown_is_reopened() {
    let probe = Probe::new();
    let remote = RemoteServer::start(&tools(&probe), HttpOptions::default(), {
        let done = std::sync::atomic::AtomicBool::new(false);
        move |seen| {
            let is_first =
                seen.calls("tools/call") && !done.swap(true, std::sync::atomic::Ordering::Relaxed);
            if is_first {
                let text = "Bad Request: No valid session ID provided";
                return Some(seen.error(400, &serde_json::Value::Null, -32000, text));
            }
            stateful(seen)
        }
    });
    let (pool, _manager) = connected(&remote).await;
    assert_eq!(call(&pool, "hit", json!({})).await.observation().to_text(), "1");
    assert_eq!(remote.count(|seen| seen.calls("initialize")), 2);
}

#[tokio::test]
async fn an_error_that_mentions_a_session_is_not_retried() {
    for (status, text) in [
        (200, "the database session broke after the payment was made"),
        (200, "Session not found"),
        (400, "the database session broke after the payment was made"),
    ] {
        let remote =
            RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), move |seen| {
                let rejection = || seen.error(status, &serde_json::Value::Null, -32603, text);
                seen.calls("tools/call").then(rejection).or_else(|| stateful(seen))
            });
        let (pool, _manager) = connected(&remote).await;
        let result = call(&pool, "hit", json!({})).await;
        let error = result.error().unwrap();
        assert!(error.message().contains(text), "{error}");
        assert_eq!(remote.count(|seen| seen.calls("tools/call")), 1);
    }
}

#[tokio::test]
async fn an_invalid_answer_fails_one_call() {
    type Answer = fn() -> Response;
    let bad: [Answer; 3] = [
        || StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        || Html("<h1>Welcome</h1>").into_response(),
        || ([("content-type", "text/event-stream")], "data: {\n\n").into_response(),
    ];
    for answer in bad {
        for intercept in [pass_through as Intercept, stateful] {
            let probe = Probe::new();
            let remote = RemoteServer::start(&tools(&probe), HttpOptions::default(), move |seen| {
                let is_call_of_hit =
                    seen.calls("tools/call") && seen.message["params"]["name"] == "hit";
                is_call_of_hit.then(answer).or_else(|| intercept(seen))
            });
            let (pool, manager) = connected(&remote).await;
            let calling = pool.clone();
            let waiting = tokio::spawn(async move { call(&calling, "wait", json!({})).await });
            assert_eq!(probe.report().await, "started");
            let lost = call(&pool, "hit", json!({})).await;
            let error = lost.error().unwrap();
            assert_eq!(error.class(), ErrorClass::Indeterminate, "{error}");
            probe.release();
            let done = in_time(waiting).await.unwrap();
            assert_eq!(done.observation().to_text(), "done", "{done:?}");
            assert_eq!(manager.server("remote").unwrap().state, McpState::Ready);
            // The first connection is still open.
            assert!(remote.count(|seen| seen.calls("initialize")) <= 1);
            assert!(remote.count(|seen| seen.calls("server/discover")) <= 1);
        }
    }
}

#[tokio::test]
async fn a_server_that_never_answers_times_out() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    let pool = ToolPool::builder().build().unwrap();
    let config = McpServerConfig::http(url).connect_timeout(Duration::from_millis(300));
    let manager = builder_of(config).start(&pool).unwrap();
    let state = until(&manager, is_retrying).await;
    assert!(state.to_string().contains("it did not answer `initialize` within "), "{state}");
}

#[tokio::test]
async fn a_missing_server_is_retried() {
    let pool = ToolPool::builder().build().unwrap();
    let place = Place::new();
    let url = format!("http://{}/mcp?key=query-4kLm1q", place.address);
    let manager = builder(&url).start(&pool).unwrap();
    let state = until(&manager, is_retrying).await;
    assert!(state.to_string().contains("refused"), "{state}");
    assert!(!state.to_string().contains("query-4kLm1q"), "{state}");
    let _server =
        RemoteServer::start_at(place, &tools(&Probe::new()), HttpOptions::default(), pass_through);
    until(&manager, |state| *state == McpState::Ready).await;
}
