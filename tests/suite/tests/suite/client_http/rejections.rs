//! Answers that are not MCP messages.

use super::remote_server::{
    Probe, RecordedRequest, RemoteServer, builder, call, connected, in_time, pass_through,
    required, tools,
};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use tool_runtime::ErrorClass;
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::McpState;
use tool_runtime::prelude::*;

async fn connect_error(
    intercept: impl Fn(&RecordedRequest) -> Option<Response> + Send + Sync + 'static,
) -> String {
    let remote = RemoteServer::written(intercept);
    let pool = ToolPool::builder().build().unwrap();
    in_time(required(&remote.url()).connect(&pool)).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_redirect_to_another_server_is_rejected() {
    let other = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), pass_through);
    let url = other.url();
    let error = connect_error(move |_| {
        Some((StatusCode::TEMPORARY_REDIRECT, [("location", url.clone())]).into_response())
    });
    let error = error.await;
    assert!(error.contains("HTTP 307") && error.contains("is not followed"), "{error}");
    assert_eq!(other.count(|_| true), 0);
}

#[tokio::test]
async fn a_redirect_within_a_server_is_followed() {
    let remote = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), |seen| {
        let moved = (StatusCode::PERMANENT_REDIRECT, [("location", "/mcp")]).into_response();
        (seen.path == "/old").then_some(moved)
    });
    let pool = ToolPool::builder().build().unwrap();
    let manager = builder(&remote.url().replace("/mcp", "/old"));
    let _manager = in_time(manager.connect(&pool)).await.unwrap();
    assert_eq!(call(&pool, "hit", json!({})).await.observation().to_text(), "1");
}

#[tokio::test]
async fn a_url_without_an_mcp_server_is_reported() {
    let page = |_: &RecordedRequest| Some(axum::response::Html("<h1>Welcome</h1>").into_response());
    let error = connect_error(page).await;
    assert!(error.contains("`text/html") && error.contains("is this its address?"), "{error}");
    let error = connect_error(|_| Some(StatusCode::BAD_GATEWAY.into_response())).await;
    assert!(error.contains("HTTP 502"), "{error}");
    let error =
        connect_error(|_| Some((StatusCode::NOT_FOUND, "no such page").into_response())).await;
    assert!(error.contains("HTTP 404 Not Found: no such page"), "{error}");
}

#[tokio::test]
async fn a_rejected_call_is_an_error_and_keeps_the_connection() {
    let remote = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), |seen| {
        let busy = (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "3")]).into_response();
        (seen.calls("tools/call") && seen.message["params"]["name"] == "hit").then_some(busy)
    });
    let (pool, manager) = connected(&remote).await;
    let result = call(&pool, "hit", json!({})).await;
    let error = result.error().unwrap();
    assert_eq!(error.class(), ErrorClass::Tool);
    assert!(error.message().contains("HTTP 429; retry after 3"), "{error}");
    assert_eq!(manager.server("remote").unwrap().state, McpState::Ready);
}

#[tokio::test]
async fn an_error_without_an_id_answers_its_request() {
    let remote = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), |seen| {
        let null = serde_json::Value::Null;
        let rejected = seen.error(400, &null, -32600, "there is too much of it");
        seen.calls("tools/call").then_some(rejected)
    });
    let (pool, _manager) = connected(&remote).await;
    let result = call(&pool, "hit", json!({})).await;
    let text = result.error().unwrap().message().to_owned();
    assert!(text.contains("refused `hit`: there is too much of it"), "{text}");
}

#[tokio::test]
async fn an_unreadable_answer_is_an_error_and_keeps_the_connection() {
    for kind in ["application/json", "text/event-stream"] {
        let remote =
            RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), move |seen| {
                let body =
                    format!(r#"{{"jsonrpc":"2.0","id":{},"result":NaN}}"#, seen.message["id"]);
                let is_stream = kind == "text/event-stream";
                let body = if is_stream { format!("data: {body}\n\n") } else { body };
                let answer = ([("content-type", kind)], body).into_response();
                (seen.calls("tools/call") && seen.message["params"]["name"] == "hit")
                    .then_some(answer)
            });
        let (pool, manager) = connected(&remote).await;
        let result = in_time(call(&pool, "hit", json!({}))).await;
        let text = result.error().unwrap().message().to_owned();
        assert!(text.contains("its answer cannot be read"), "{kind}: {text}");
        assert!(text.contains("may have had its effect"), "{kind}: {text}");
        assert_eq!(manager.server("remote").unwrap().state, McpState::Ready);
    }
}

#[tokio::test]
async fn invalid_utf_8_in_a_stream_is_replaced() {
    let remote = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), |seen| {
        let content = r#"{"content":[{"type":"text","text":"a\ud800b"}]}"#;
        let id = &seen.message["id"];
        let body = format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{content}}}\n\n");
        let answer = ([("content-type", "text/event-stream")], body).into_response();
        (seen.calls("tools/call") && seen.message["params"]["name"] == "hit").then_some(answer)
    });
    let (pool, _manager) = connected(&remote).await;
    let result = in_time(call(&pool, "hit", json!({}))).await;
    assert_eq!(result.observation().to_text(), "a\u{fffd}b");
}

#[tokio::test]
async fn a_call_without_an_answer_ends_immediately() {
    type Answer = fn(&RecordedRequest) -> Response;
    let answers: [(Answer, &str); 4] = [
        (|_| StatusCode::ACCEPTED.into_response(), "it accepts the request and sends no answer"),
        (|_| StatusCode::NO_CONTENT.into_response(), "it accepts the request and sends no answer"),
        (
            |seen| {
                let mut other = seen.clone();
                other.message["id"] = json!(4711);
                other.result(json!({ "content": [] }))
            },
            "it answers another request",
        ),
        (
            |_| {
                let message = json!({ "jsonrpc": "2.0", "method": "notifications/message" });
                ([("content-type", "application/json")], message.to_string()).into_response()
            },
            "not valid MCP",
        ),
    ];
    for (answer, words) in answers {
        let remote =
            RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), move |seen| {
                seen.calls("tools/call").then(|| answer(seen))
            });
        let (pool, manager) = connected(&remote).await;
        let result = call(&pool, "hit", json!({})).await;
        let error = result.error().unwrap();
        assert_eq!(error.class(), ErrorClass::Indeterminate, "{error}");
        assert!(words == "not valid MCP" || error.message().contains(words), "{error}");
        assert_eq!(manager.server("remote").unwrap().state, McpState::Ready);
    }
}
