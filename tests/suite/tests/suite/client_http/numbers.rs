//! Integers beyond 64 bits in answers in plain JSON.

use super::remote_server::{RemoteServer, call, connected};
use axum::response::IntoResponse as _;
use serde_json::json;

#[tokio::test]
async fn an_integer_beyond_64_bits_is_an_error() {
    let remote = RemoteServer::written(|seen| {
        let count = json!({
            "name": "count",
            "inputSchema": { "type": "object" },
            "outputSchema": { "type": "object", "properties": {
                "n": { "type": "integer" }, "x": { "type": "number" },
            } },
        });
        seen.listing(&json!([count])).or_else(|| {
            let number = if seen.body.contains("wide") { "100000000000000000001" } else { "1" };
            let id = &seen.message["id"];
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[],"structuredContent":{{"n":{number},"x":6e23}}}}}}"#
            );
            Some(([("content-type", "application/json")], body).into_response())
        })
    });
    let (pool, _manager) = connected(&remote).await;
    let result = call(&pool, "count", json!({ "wide": true })).await;
    let text = result.observation().to_text();
    assert!(result.is_error() && text.contains("beyond 64 bits, about 1e20"), "{text}");
    assert!(!call(&pool, "count", json!({})).await.is_error(), "a float may be large");
}
