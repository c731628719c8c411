//! Arguments that are repeated in headers.

use super::remote_server::{
    Probe, RecordedRequest, RemoteServer, call, connected, pass_through, stateful, tools,
};
use axum::response::Response;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::McpState;

#[tokio::test]
async fn marked_arguments_are_repeated_only_for_2026_07_28() {
    let remote = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), pass_through);
    let (pool, _manager) = connected(&remote).await;
    let place = call(&pool, "place", json!({ "region": " köln" })).await;
    assert_eq!(place.observation().to_text(), " köln");
    assert_eq!(remote.count(|seen| seen.header("mcp-param-region") == "=?base64?IGvDtmxu?="), 1);

    let remote = RemoteServer::start(&tools(&Probe::new()), HttpOptions::default(), stateful);
    let (pool, _manager) = connected(&remote).await;
    let place = call(&pool, "place", json!({ "region": "here" })).await;
    assert_eq!(place.observation().to_text(), "here");
    assert_eq!(remote.count(|seen| seen.headers.contains_key("mcp-param-region")), 0);
}

/// A server of 2026-07-28 with these tools.
fn answer(seen: &RecordedRequest, tools: &Value) -> Option<Response> {
    if seen.calls("tools/call") {
        return Some(seen.result(json!({
            "resultType": "complete",
            "content": [{ "type": "text", "text": seen.header("mcp-param-region") }],
        })));
    }
    seen.listing(tools)
}

fn marked(name: &str, header: &str) -> Value {
    let region = json!({ "type": "string", "x-mcp-header": header });
    json!({ "name": name, "inputSchema": { "type": "object", "properties": { "region": region } } })
}

#[tokio::test]
async fn tools_with_invalid_marks_are_left_out_and_reported() {
    let remote = RemoteServer::written(|seen| {
        // One invalid entry does not affect the other marks.
        answer(seen, &json!([marked("good", "Region"), marked("bad", "no header"), { "name": 7 }]))
    });
    let (pool, manager) = connected(&remote).await;
    let good = call(&pool, "good", json!({ "region": "here" })).await;
    assert_eq!(good.observation().to_text(), "here");
    assert_eq!(manager.server("remote").unwrap().state, McpState::Ready);
    assert!(pool.snapshot().get("remote.bad").is_none());
    let report = pool.report().to_string();
    assert!(
        report.contains("the `x-mcp-header` of `region` is not a name of a header"),
        "{report}"
    );
}

#[tokio::test]
async fn a_changed_header_mark_is_reread_and_the_call_repeated() {
    let lists = AtomicUsize::new(0);
    let remote = RemoteServer::written(move |seen| {
        let is_list = seen.calls("tools/list");
        let lists = lists.fetch_add(usize::from(is_list), Ordering::Relaxed);
        let header = if lists == 0 { "Old" } else { "Region" };
        if seen.calls("tools/call") && seen.header("mcp-param-region").is_empty() {
            let text = "the header `Mcp-Param-Region` is missing";
            return Some(seen.error(400, &seen.message["id"], -32020, text));
        }
        answer(seen, &json!([marked("place", header)]))
    });
    let (pool, manager) = connected(&remote).await;
    let place = call(&pool, "place", json!({ "region": "here" })).await;
    assert_eq!(place.observation().to_text(), "here");
    assert_eq!(remote.count(|seen| seen.calls("tools/call")), 2);
    assert_eq!(manager.server("remote").unwrap().state, McpState::Ready);
}

#[tokio::test]
async fn headers_follow_the_first_of_two_tools_with_one_name() {
    let remote = RemoteServer::written(|seen| {
        let plain = json!({ "name": "place", "inputSchema": { "type": "object" } });
        answer(seen, &json!([plain, marked("place", "Region")]))
    });
    let (pool, _manager) = connected(&remote).await;
    let place = call(&pool, "place", json!({ "region": "here" })).await;
    assert_eq!(place.observation().to_text(), "");
}
