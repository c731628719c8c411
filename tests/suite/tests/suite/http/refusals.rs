//! What is refused before any tool hears of it.

use super::client::Ask;
use super::served::{Served, in_time};
use serde_json::json;
use tool_runtime::HttpOptions;

#[tokio::test]
async fn another_host_is_refused_and_told_the_flag() {
    let served = Served::start(HttpOptions::default().allow_host("tools.example.com")).await;
    let refused = served.ask(&Ask::call(1, "whoami").with("host", "evil.example.com")).await;
    assert_eq!(refused.status(), 403);
    assert!(refused.body.contains("`--allow-host evil.example.com`"), "{refused:?}");
    for host in ["127.0.0.1:99", "[::1]:99", "tools.example.com"] {
        assert_eq!(served.ask(&Ask::call(1, "whoami").with("host", host)).await.status(), 200);
    }
    assert_eq!(served.ask(&Ask::call(1, "whoami").with("host", "")).await.status(), 400);
}

#[tokio::test]
async fn a_foreign_page_is_refused_and_told_the_flag() {
    let served = Served::start(HttpOptions::default().allow_origin("https://a.example")).await;
    let from = |origin| Ask::call(1, "whoami").with("origin", origin);
    for origin in ["https://evil.example", "null"] {
        let refused = served.ask(&from(origin)).await;
        assert_eq!(refused.status(), 403);
        assert!(refused.body.contains(&format!("`--allow-origin {origin}`")), "{refused:?}");
        assert_eq!(refused.head.header("access-control-allow-origin"), "");
    }
    // A second one must not hide behind the first.
    let two = from("https://a.example").with("Origin", "https://evil.example");
    assert_eq!(served.ask(&two).await.status(), 400);
    for origin in ["http://localhost:3000", "https://a.example"] {
        let answer = served.ask(&from(origin)).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.head.header("access-control-allow-origin"), origin);
    }
}

#[tokio::test]
async fn a_browser_may_ask_what_its_page_may_send() {
    let served = Served::start(HttpOptions::default()).await;
    let preflight = Ask::new("OPTIONS", "/mcp")
        .with("origin", "http://localhost:3000")
        .with("access-control-request-method", "POST")
        .with("access-control-request-headers", "content-type,mcp-method");
    let answer = served.ask(&preflight).await;
    assert_eq!(answer.status(), 204);
    assert_eq!(answer.head.header("access-control-allow-headers"), "content-type,mcp-method");
    assert!(answer.head.header("access-control-allow-methods").contains("POST"), "{answer:?}");
    let refused = served.ask(&preflight.with("origin", "http://evil.example")).await;
    assert_eq!(refused.status(), 403);
}

#[tokio::test]
async fn what_is_no_message_is_answered_as_json_rpc_says() {
    let served = Served::start(HttpOptions::default()).await;
    let cases: [(&[u8], i64); 8] = [
        (b"{", -32700),
        (b"not json", -32700),
        (b"\xff\xfe", -32700),
        (b" ", -32700),
        (b"[]", -32600),
        (b"{\"id\": 1, \"method\": \"ping\"}", -32600),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 1}", -32600),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": 5}", -32602),
    ];
    for (body, code) in cases {
        let answer = served.ask(&Ask::post(body)).await;
        let shown = String::from_utf8_lossy(body).into_owned();
        assert_eq!(answer.status(), 400, "{shown}: {answer:?}");
        assert_eq!(answer.head.header("content-type"), "application/json", "{shown}");
        assert_eq!(answer.json()["error"]["code"], code, "{shown}: {answer:?}");
    }
}

#[tokio::test]
async fn only_json_is_taken_and_only_where_the_protocol_is() {
    let served = Served::start(HttpOptions::default()).await;
    let call = Ask::call(1, "whoami");
    assert_eq!(served.ask(&call.clone().with("content-type", "text/plain")).await.status(), 415);
    assert_eq!(served.ask(&call.with("accept", "text/html")).await.status(), 406);
    assert_eq!(served.ask(&Ask::new("PUT", "/mcp")).await.status(), 405);
    assert_eq!(served.ask(&Ask::new("GET", "/")).await.status(), 404);
}

#[tokio::test]
async fn a_body_has_a_limit() {
    let served = Served::start(HttpOptions::default().max_body(1000)).await;
    let long = Ask::modern(
        1,
        "tools/call",
        json!({"name": "echo", "arguments": {"text": "x".repeat(1000)}}),
    );
    let answer = served.ask(&long).await;
    assert_eq!(answer.status(), 413);
    assert!(answer.body.contains("1000 bytes"), "{answer:?}");
    // The same of a body that does not say how long it is.
    let mut connection = served.open().await;
    let chunked = Ask::new("POST", "/mcp")
        .with("content-type", "application/json")
        .with("transfer-encoding", "chunked");
    connection.send(&chunked).await;
    for _ in 0..4 {
        connection.write(format!("200\r\n{}\r\n", " ".repeat(512)).as_bytes()).await;
    }
    connection.write(b"0\r\n\r\n").await;
    assert_eq!(in_time(connection.answer()).await.status(), 413);
    assert_eq!(served.ask(&Ask::call(1, "whoami")).await.status(), 200);
}

#[tokio::test]
async fn headers_have_a_limit() {
    let served = Served::start(HttpOptions::default().max_headers(2000)).await;
    let long = Ask::call(1, "whoami").with("x-long", &"x".repeat(4000));
    assert_eq!(served.ask(&long).await.status(), 431);
    let many = (0..120).fold(Ask::call(1, "whoami"), |ask, n| ask.with(&format!("x-{n}"), "y"));
    assert_eq!(served.ask(&many).await.status(), 431);
}

#[tokio::test]
async fn a_client_that_sends_much_still_sees_why_it_is_refused() {
    let served = Served::start(HttpOptions::default()).await;
    let text = "x".repeat(6 << 20);
    let long = Ask::modern(1, "tools/call", json!({"name": "echo", "arguments": {"text": text}}));
    assert_eq!(served.ask(&long).await.status(), 413);
    assert_eq!(served.ask(&long.with("host", "evil.example")).await.status(), 403);
}

#[tokio::test]
async fn a_message_of_countless_values_is_refused_where_no_tool_wants_them() {
    let served = Served::start(HttpOptions::default()).await;
    let many = vec![0; 100_000];
    let listing = served.ask(&Ask::modern(1, "tools/list", json!({"x": many}))).await;
    assert_eq!((listing.status(), &listing.json()["error"]["code"]), (400, &json!(-32600)));
    let params = json!({"name": "echo", "arguments": {"text": many}});
    let call = served.ask(&Ask::modern(1, "tools/call", params)).await;
    assert_eq!((call.status(), &call.json()["result"]["isError"]), (200, &json!(true)));
}
