//! Servers over HTTP whose streams and answers are odd.

use super::support::{call, is, pool, usual};
use crate::time_limit::in_time;
use crate::{McpManager, McpState};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tool_runtime_config::McpServerConfig;
use tool_runtime_core::pool::ToolPool;

/// An HTTP response: status line, content type, body. Without a status the server is silent.
struct Response(&'static str, &'static str, String);

type Answer = dyn Fn(&Value) -> Option<Response> + Send + Sync;

/// A manager with a server that answers as `answer` says, or else as one of 2025-11-25 without streams.
async fn started(
    answer: impl Fn(&Value) -> Option<Response> + Send + Sync + 'static,
) -> (ToolPool, McpManager) {
    let hour = Duration::from_secs(3600);
    started_with(answer, |entry| entry.call_timeout(hour)).await
}

/// Starts a server and a manager with this entry.
async fn started_with(
    answer: impl Fn(&Value) -> Option<Response> + Send + Sync + 'static,
    entry: impl FnOnce(McpServerConfig) -> McpServerConfig,
) -> (ToolPool, McpManager) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let answer: Arc<Answer> = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&answer)));
        }
    });
    let (pool, hour) = (pool(), Duration::from_secs(3600));
    let entry = entry(McpServerConfig::http(url));
    let builder = McpManager::builder().server("s", entry).retry(hour, hour);
    let manager = builder.start(&pool).unwrap();
    manager.settled().await;
    (pool, manager)
}

async fn serve(stream: TcpStream, answer: Arc<Answer>) {
    let mut stream = BufReader::new(stream);
    while let Some((method, body)) = request(&mut stream).await {
        let message: Value = serde_json::from_str(&body).unwrap_or_default();
        let none = || Response("202 Accepted", "text/plain", String::new());
        let response = match &*method {
            "POST" => answer(&message).unwrap_or_else(|| {
                let text = usual(&message);
                text.map_or_else(none, |text| Response("200 OK", "application/json", text))
            }),
            _ => Response("405 Method Not Allowed", "text/plain", String::new()),
        };
        let Response(status, kind, body) = response;
        if status.is_empty() {
            return std::future::pending().await;
        }
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
        );
        if stream.write_all(format!("{head}{body}").as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The method and the body of the next request.
async fn request(stream: &mut BufReader<TcpStream>) -> Option<(String, String)> {
    let (mut method, mut length, mut line) = (String::new(), 0, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let line = line.trim().to_ascii_lowercase();
        if method.is_empty() {
            method = line.split(' ').next()?.to_ascii_uppercase();
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((method, String::from_utf8(body).ok()?))
}

fn stream(text: String) -> Response {
    Response("200 OK", "text/event-stream", text)
}

#[tokio::test]
async fn odd_fields_and_events_never_lose_an_answer() {
    let endpoint = "event: endpoint\ndata: /messages\n\n";
    let ping = "event: ping\ndata: {}\n\n";
    let result = "event: debug\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";
    let stray = "data: {\"jsonrpc\":\"2.0\",\"id\":4711,\"result\":{}}\n\n";
    let log = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"a\"}}\n\n";
    for before in [
        ": connected\n\n:\n",
        "retry: soon\n",
        "retry: 99999999999999999999\n\n",
        "retry:\n\n",
        "id\n",
        "id:\n\n",
        "id: a\nid: b\n",
        "nonsense\n",
        "x-own: 1\n\n",
        "data: connected\n\n",
        "data: <html>\n\n",
        "data\n\n",
        "data: {}\n\n",
        "data: []\n\n",
        "data: null\n\n",
        "\u{feff}",
        "\r\n",
        endpoint,
        ping,
        result,
        stray,
        log,
    ] {
        let (pool, manager) = started(move |message| {
            let answer = usual(message).filter(|_| !message["id"].is_null())?;
            Some(stream(format!("{before}data: {answer}\n\n")))
        })
        .await;
        let status = manager.server("s").unwrap();
        assert_eq!(status.state, McpState::Ready, "{before:?}");
        assert_eq!(call(&pool, "s.echo").await.observation().to_text(), "done", "{before:?}");
    }
}

#[tokio::test]
async fn a_stream_without_a_last_blank_line_is_read() {
    let (pool, _manager) = started(|message| {
        let answer = usual(message).filter(|_| is(message, "tools/call"))?;
        Some(stream(format!("data: {answer}")))
    })
    .await;
    assert_eq!(call(&pool, "s.echo").await.observation().to_text(), "done");
}

#[tokio::test]
async fn a_notification_may_be_answered_by_anything() {
    for (status, kind, body) in [
        ("200 OK", "text/html", "<p>ok</p>"),
        ("200 OK", "application/json", "null"),
        ("200 OK", "text/event-stream", ""),
        ("500 Internal Server Error", "text/plain", "oops"),
        ("400 Bad Request", "application/json", "{}"),
    ] {
        let (pool, _manager) = started(move |message| {
            message["id"].is_null().then(|| Response(status, kind, body.to_owned()))
        })
        .await;
        assert_eq!(call(&pool, "s.echo").await.observation().to_text(), "done", "{status} {kind}");
    }
}

#[tokio::test]
async fn a_reason_names_what_the_server_sent() {
    let page = "<!doctype html><title>Welcome</title>";
    for (status, kind, body, words) in [
        (
            "500 Internal Server Error",
            "text/plain",
            "oops\nagain",
            "HTTP 500 Internal Server Error: oops again",
        ),
        ("502 Bad Gateway", "text/html", page, "HTTP 502 Bad Gateway: an HTML page, \"Welcome\""),
        (
            "200 OK",
            "text/html; charset=utf-8",
            page,
            "it answers with `text/html; charset=utf-8`, which is not MCP; is this its address? It sent: an HTML page, \"Welcome\"",
        ),
        (
            "200 OK",
            "text/plain",
            "hello",
            "it answers with `text/plain`, which is not MCP; is this its address? It sent: hello",
        ),
        (
            "200 OK",
            "application/json",
            "{\"ok\":true}",
            "its answer is {\"ok\":true}, not JSON-RPC",
        ),
        ("200 OK", "application/json", "", "its answer is empty, not JSON-RPC"),
        ("401 Unauthorized", "text/plain", "who", "HTTP 401"),
    ] {
        let answer = move |message: &Value| {
            (!message["id"].is_null()).then(|| Response(status, kind, body.to_owned()))
        };
        let (_pool, manager) = started(answer).await;
        let reason = manager.server("s").unwrap().state.reason().unwrap().to_owned();
        assert!(reason.contains(words), "{reason}");

        let (pool, manager) =
            started(move |message| is(message, "tools/call").then(|| answer(message))?).await;
        let failed = call(&pool, "s.echo").await;
        let text = failed.error().unwrap().message();
        assert!(text.contains(words), "{text}");
        if !status.starts_with("401") {
            assert_eq!(manager.server("s").unwrap().state, McpState::Ready);
        }
    }
}

#[tokio::test]
async fn a_notification_without_authorization_is_named() {
    let (_pool, manager) = started(|message| {
        is(message, "notifications/initialized")
            .then(|| Response("401 Unauthorized", "text/plain", String::new()))
    })
    .await;
    let state = manager.server("s").unwrap().state;
    assert!(state.reason().unwrap().contains("HTTP 401"), "{state}");
    assert!(matches!(state, McpState::NeedsAuth { .. }), "{state}");
}

#[tokio::test]
async fn an_error_in_a_body_of_another_shape_is_the_refusal() {
    let (pool, _manager) = started(|message| {
        let body = json!({ "id": message["id"], "error": { "code": "x", "message": "no disk" } });
        is(message, "tools/call")
            .then(|| Response("400 Bad Request", "application/json", body.to_string()))
    })
    .await;
    let failed = call(&pool, "s.echo").await;
    assert!(failed.error().unwrap().message().contains("refused `echo`: no disk"), "{failed:?}");
}

#[tokio::test]
async fn resources_are_listed_and_read_within_the_call_timeout_of_the_entry() {
    let silent = |message: &Value| {
        message["method"]
            .as_str()?
            .starts_with("resources/")
            .then(|| Response("", "", String::new()))
    };
    let (limit, began) = (Duration::from_millis(100), Instant::now());
    let (_pool, manager) = started_with(silent, |entry| entry.call_timeout(limit)).await;
    let listed = in_time("a list", manager.resources("s")).await.unwrap_err().to_string();
    assert!(listed.contains("it did not answer in time"), "{listed}");
    let read = in_time("contents", manager.read_resource("s", "a:b")).await.unwrap_err();
    assert!(read.to_string().contains("it did not answer in time"), "{read}");
    assert!(began.elapsed() < Duration::from_secs(30), "not the limit of servers without one");
}
