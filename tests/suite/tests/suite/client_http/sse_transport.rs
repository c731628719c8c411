//! Servers of 2024-11-05: an event stream for answers, and another address for requests.

use super::remote_server::{
    RecordedRequest, RemoteServer, builder, builder_of, call, in_time, until,
};
use axum::body::Body;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use std::io;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tool_runtime::mcp::{HttpConfig, McpManager, McpServerConfig, McpState};
use tool_runtime::prelude::*;

/// The event stream of the only client.
#[derive(Clone, Default)]
struct LegacyServer(Arc<Mutex<Option<UnboundedSender<String>>>>);

impl LegacyServer {
    fn start(endpoint: &'static str) -> RemoteServer {
        let server = Self::default();
        RemoteServer::written(move |seen| server.answer(seen, endpoint))
    }

    fn answer(&self, seen: &RecordedRequest, endpoint: &str) -> Option<Response> {
        match (&*seen.method, &*seen.path) {
            ("GET", "/mcp") => Some(self.stream(endpoint)),
            ("POST", "/messages") => {
                if let Some(result) = result(&seen.message) {
                    let id = &seen.message["id"];
                    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
                    self.send_event(format!("event: message\ndata: {answer}\n\n"));
                }
                Some((StatusCode::ACCEPTED, "Accepted").into_response())
            }
            _ => Some(StatusCode::METHOD_NOT_ALLOWED.into_response()),
        }
    }

    fn stream(&self, endpoint: &str) -> Response {
        let (reports, mut report) = unbounded_channel();
        *self.0.lock().unwrap() = Some(reports);
        self.send_event(format!("event: endpoint\ndata: {endpoint}\n\n"));
        let events = futures_util::stream::poll_fn(move |context| report.poll_recv(context));
        let body = Body::from_stream(events.map(Ok::<_, io::Error>));
        ([("content-type", "text/event-stream")], body).into_response()
    }

    fn send_event(&self, event: String) {
        self.0.lock().unwrap().as_ref().unwrap().send(event).unwrap();
    }
}

fn result(message: &Value) -> Option<Value> {
    match message["method"].as_str()? {
        "initialize" => Some(json!({
            "protocolVersion": "2024-11-05",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "legacy", "version": "1" },
        })),
        "tools/list" => Some(json!({
            "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }],
        })),
        "tools/call" => Some(json!({
            "content": [{ "type": "text", "text": message["params"]["arguments"]["text"] }],
        })),
        _ => None,
    }
}

fn config(remote: &RemoteServer) -> McpServerConfig {
    let mut http = HttpConfig::new(remote.url());
    http.legacy_sse = true;
    McpServerConfig::new(http)
}

async fn assert_works(pool: &ToolPool, manager: &McpManager) {
    let echo = call(pool, "echo", json!({ "text": "hello" })).await;
    assert_eq!(echo.observation().to_text(), "hello");
    assert_eq!(manager.server("remote").unwrap().protocol.as_deref(), Some("2024-11-05"));
}

#[tokio::test]
async fn a_server_configured_as_legacy_gets_initialize() {
    let remote = LegacyServer::start("/messages?session=1");
    let pool = ToolPool::builder().build().unwrap();
    let config = config(&remote).header("X-Team", "blue");
    let manager = in_time(builder_of(config).connect(&pool)).await.unwrap();
    assert_works(&pool, &manager).await;
    assert_eq!(remote.count(|seen| seen.method == "POST" && seen.path == "/mcp"), 0);
    assert_eq!(remote.count(|seen| seen.header("x-team") != "blue"), 0);
}

#[tokio::test]
async fn the_version_of_a_legacy_server_is_remembered() {
    let remote = LegacyServer::start("/messages");
    let pool = ToolPool::builder().build().unwrap();
    let manager = in_time(builder(&remote.url()).connect(&pool)).await.unwrap();
    assert_works(&pool, &manager).await;
    let tried = |seen: &RecordedRequest| seen.method == "POST" && seen.path == "/mcp";
    let before = remote.count(tried);
    assert!(before > 0);
    manager.reconnect("remote").await.unwrap();
    until(&manager, |state| *state == McpState::Ready).await;
    assert_works(&pool, &manager).await;
    assert_eq!(remote.count(tried), before);
}

#[tokio::test]
async fn messages_are_sent_to_no_other_server() {
    let remote = LegacyServer::start("http://127.0.0.1:9/messages");
    let pool = ToolPool::builder().build().unwrap();
    let error = in_time(builder_of(config(&remote).required(true)).connect(&pool))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("its message endpoint is on another origin"), "{error}");
}

#[tokio::test]
async fn a_killed_legacy_server_is_retried() {
    let remote = LegacyServer::start("/messages");
    let pool = ToolPool::builder().build().unwrap();
    let manager = in_time(builder_of(config(&remote)).connect(&pool)).await.unwrap();
    remote.kill();
    let state = until(&manager, |state| matches!(state, McpState::Retrying { .. })).await;
    assert!(!state.to_string().is_empty());
    let error = call(&pool, "echo", json!({ "text": "hello" })).await;
    assert!(error.error().unwrap().message().contains("is not connected"));
}
