//! Requests that are rejected before a tool is called.

use super::client::RawRequest;
use super::test_server::{TestServer, in_time};
use serde_json::{Value, json};
use tool_runtime::ToolPoolBuilder;
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::McpServer;
use tool_runtime::prelude::*;

#[tokio::test]
async fn rejects_another_host_and_names_the_flag() {
    let server = TestServer::start(HttpOptions::default().allow_host("tools.example.com")).await;
    let rejected =
        server.request(&RawRequest::call(1, "whoami").with("host", "evil.example.com")).await;
    assert_eq!(rejected.status(), 403);
    assert!(rejected.body.contains("`--allow-host evil.example.com`"), "{rejected:?}");
    for host in ["127.0.0.1:99", "[::1]:99", "tools.example.com"] {
        assert_eq!(
            server.request(&RawRequest::call(1, "whoami").with("host", host)).await.status(),
            200
        );
    }
    assert_eq!(server.request(&RawRequest::call(1, "whoami").with("host", "")).await.status(), 400);
}

#[tokio::test]
async fn rejects_a_foreign_origin_and_names_the_flag() {
    let server = TestServer::start(HttpOptions::default().allow_origin("https://a.example")).await;
    let from = |origin| RawRequest::call(1, "whoami").with("origin", origin);
    for origin in ["https://evil.example", "null"] {
        let rejected = server.request(&from(origin)).await;
        assert_eq!(rejected.status(), 403);
        assert!(rejected.body.contains(&format!("`--allow-origin {origin}`")), "{rejected:?}");
        assert_eq!(rejected.head.header("access-control-allow-origin"), "");
    }
    // A second one must not be ignored because of the first.
    let two = from("https://a.example").with("Origin", "https://evil.example");
    assert_eq!(server.request(&two).await.status(), 400);
    for origin in ["http://localhost:3000", "https://a.example"] {
        let answer = server.request(&from(origin)).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.head.header("access-control-allow-origin"), origin);
    }
}

#[tokio::test]
async fn cors_preflight_requests_are_answered() {
    let server = TestServer::start(HttpOptions::default()).await;
    let preflight = RawRequest::new("OPTIONS", "/mcp")
        .with("origin", "http://localhost:3000")
        .with("access-control-request-method", "POST")
        .with("access-control-request-headers", "content-type,mcp-method");
    let answer = server.request(&preflight).await;
    assert_eq!(answer.status(), 204);
    assert_eq!(answer.head.header("access-control-allow-headers"), "content-type,mcp-method");
    assert!(answer.head.header("access-control-allow-methods").contains("POST"), "{answer:?}");
    let rejected = server.request(&preflight.with("origin", "http://evil.example")).await;
    assert_eq!(rejected.status(), 403);
}

#[tokio::test]
async fn invalid_messages_are_answered_by_json_rpc() {
    let server = TestServer::start(HttpOptions::default()).await;
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
        let answer = server.request(&RawRequest::post(body)).await;
        let shown = String::from_utf8_lossy(body).into_owned();
        assert_eq!(answer.status(), 400, "{shown}: {answer:?}");
        assert_eq!(answer.head.header("content-type"), "application/json", "{shown}");
        assert_eq!(answer.json()["error"]["code"], code, "{shown}: {answer:?}");
    }
}

#[tokio::test]
async fn only_json_at_the_endpoint_is_accepted() {
    let server = TestServer::start(HttpOptions::default()).await;
    let call = RawRequest::call(1, "whoami");
    assert_eq!(
        server.request(&call.clone().with("content-type", "text/plain")).await.status(),
        415
    );
    assert_eq!(server.request(&call.with("accept", "text/html")).await.status(), 406);
    assert_eq!(server.request(&RawRequest::new("PUT", "/mcp")).await.status(), 405);
    assert_eq!(server.request(&RawRequest::new("GET", "/")).await.status(), 404);
}

#[tokio::test]
async fn a_body_has_a_limit() {
    let server = TestServer::start(HttpOptions::default().max_body(1000)).await;
    let long = RawRequest::stateless(
        1,
        "tools/call",
        json!({"name": "echo", "arguments": {"text": "x".repeat(1000)}}),
    );
    let answer = server.request(&long).await;
    assert_eq!(answer.status(), 413);
    assert!(answer.body.contains("1000 bytes"), "{answer:?}");
    // The same for a body without a length.
    let mut connection = server.open().await;
    let chunked = RawRequest::new("POST", "/mcp")
        .with("content-type", "application/json")
        .with("transfer-encoding", "chunked");
    connection.send(&chunked).await;
    for _ in 0..4 {
        connection.write(format!("200\r\n{}\r\n", " ".repeat(512)).as_bytes()).await;
    }
    connection.write(b"0\r\n\r\n").await;
    assert_eq!(in_time(connection.answer()).await.status(), 413);
    assert_eq!(server.request(&RawRequest::call(1, "whoami")).await.status(), 200);
}

#[tokio::test]
async fn headers_have_a_limit() {
    let server = TestServer::start(HttpOptions::default().max_headers(2000)).await;
    let long = RawRequest::call(1, "whoami").with("x-long", &"x".repeat(4000));
    assert_eq!(server.request(&long).await.status(), 431);
    let many = (0..120)
        .fold(RawRequest::call(1, "whoami"), |request, n| request.with(&format!("x-{n}"), "y"));
    assert_eq!(server.request(&many).await.status(), 431);
}

#[tokio::test]
async fn a_client_that_sends_too_much_still_reads_the_rejection() {
    let server = TestServer::start(HttpOptions::default()).await;
    let text = "x".repeat(6 << 20);
    let long = RawRequest::stateless(
        1,
        "tools/call",
        json!({"name": "echo", "arguments": {"text": text}}),
    );
    assert_eq!(server.request(&long).await.status(), 413);
    assert_eq!(server.request(&long.with("host", "evil.example")).await.status(), 403);
}

#[tokio::test]
async fn rejects_a_message_of_too_many_values() {
    let server = TestServer::start(HttpOptions::default()).await;
    let many = vec![0; 100_000];
    let listing = server.request(&RawRequest::stateless(1, "tools/list", json!({"x": many}))).await;
    assert_eq!((listing.status(), &listing.json()["error"]["code"]), (400, &json!(-32600)));
    let params = json!({"name": "echo", "arguments": {"text": many}});
    let call = server.request(&RawRequest::stateless(1, "tools/call", params)).await;
    assert_eq!((call.status(), &call.json()["result"]["isError"]), (200, &json!(true)));
}

#[tokio::test]
async fn the_host_of_the_target_must_be_allowed_too() {
    let server = TestServer::start(HttpOptions::default()).await;
    let get = |target: &str| RawRequest::new("GET", target).with("accept", "text/event-stream");
    let rejected = server.request(&get("http://evil.example/mcp")).await;
    assert_eq!(rejected.status(), 403, "{rejected:?}");
    assert!(rejected.body.contains("`evil.example`"), "{rejected:?}");
    let rejected = server.request(&get("http://localhost@evil.example/mcp")).await;
    assert!([400, 403].contains(&rejected.status()), "{rejected:?}");
    // Neither of the two values replaces the other.
    let rejected = server.request(&get("http://localhost/mcp").with("host", "evil.example")).await;
    assert_eq!(rejected.status(), 403, "{rejected:?}");
    let rejected = server.request(&get("/mcp").with_second("host", "localhost")).await;
    assert_eq!(rejected.status(), 400, "{rejected:?}");
    assert_ne!(server.request(&get("http://localhost/mcp")).await.status(), 403);
}

#[tokio::test]
async fn rejects_duplicates_of_single_value_headers() {
    let server = TestServer::start(HttpOptions::default()).await;
    let call = RawRequest::call(1, "whoami");
    for (name, value) in [
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "whoami"),
        ("mcp-session-id", "x"),
    ] {
        let twice = call.clone().with(name, value).with_second(name, value);
        let rejected = server.request(&twice).await;
        assert_eq!(rejected.status(), 400, "{name}: {rejected:?}");
        assert!(rejected.body.contains(name), "{rejected:?}");
    }
}

#[tokio::test]
async fn a_request_without_a_session_is_rejected_with_a_remedy() {
    let server = TestServer::start(HttpOptions::default()).await;
    let list = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"});
    let rejected = server.request(&RawRequest::post(list.to_string())).await;
    assert_eq!(rejected.status(), 400);
    assert_eq!(rejected.head.header("content-type"), "application/json");
    let answer = rejected.json();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)));
    let text = answer["error"]["message"].as_str().expect("a string");
    assert!(text.contains("`initialize`") && text.contains("MCP-Protocol-Version"), "{text}");
}

#[tokio::test]
async fn all_invalid_options_are_reported_when_the_server_starts() {
    let options = HttpOptions::default()
        .allow_host("https://a.example")
        .allow_origin("a.example")
        .resource_metadata("a b");
    let pool = || ToolPool::builder().allow_empty().build().expect("a pool");
    let new_server = || McpServer::new(pool(), "suite", "1").with_state_secret("short");
    let router = new_server().into_router(options.clone()).expect_err("problems");
    let http = new_server().serve_http("127.0.0.1:0", options).await.expect_err("problems");
    for error in [router, http] {
        for part in [
            "5 bytes; give it at least 32",
            "`https://a.example` is not a host",
            "`a.example` is not an origin",
            "`a b` is not",
        ] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }
    let stdio = new_server().serve_stdio().await.expect_err("a problem");
    assert!(stdio.to_string().contains("`with_state_secret`"), "{stdio}");
}

#[tokio::test]
async fn rejects_a_cursor_that_is_not_a_string() {
    let server = TestServer::start(HttpOptions::default()).await;
    for cursor in [json!(5), json!({}), json!([])] {
        let rejected = server
            .request(&RawRequest::stateless(1, "tools/list", json!({"cursor": cursor})))
            .await;
        assert_eq!(rejected.json()["error"]["code"], -32602, "{rejected:?}");
    }
    let first =
        server.request(&RawRequest::stateless(1, "tools/list", json!({"cursor": null}))).await;
    assert!(first.json()["result"]["tools"].is_array(), "{first:?}");
}

#[tokio::test]
async fn rejects_an_id_that_is_not_an_integer() {
    let server = TestServer::start(HttpOptions::default()).await;
    for id in ["1.5", "98765432109876543210", "1e400"] {
        let body = format!(r#"{{"jsonrpc": "2.0", "id": {id}, "method": "tools/list"}}"#);
        let rejected = server.request(&RawRequest::post(body)).await;
        assert_eq!(rejected.status(), 400);
        assert!(rejected.body.contains("`id`"), "{rejected:?}");
        assert!(!rejected.body.contains("params"), "{rejected:?}");
    }
}

#[tokio::test]
async fn long_texts_of_clients_are_not_repeated() {
    let tools = |pool: ToolPoolBuilder| {
        let hello = Prompt::builder("hello", "Say hello.").handler(|| async { "Hello!" });
        let note = Resource::builder("note://one", "one", "A note.").handler(|| async { "text" });
        pool.add_prompt(hello).add_resource(note)
    };
    let server = TestServer::start_with(HttpOptions::default(), tools).await;
    let long = &*"x".repeat(1 << 20);
    let complete = |of: Value, name: &str| {
        let argument = json!({"name": name, "value": ""});
        RawRequest::stateless(1, "completion/complete", json!({"ref": of, "argument": argument}))
    };
    let asks = [
        RawRequest::stateless(1, "tools/list", json!({"cursor": long})),
        RawRequest::stateless(1, "prompts/list", json!({"cursor": long})),
        RawRequest::stateless(1, "tools/call", json!({"name": long})).with("mcp-name", "x"),
        RawRequest::stateless(1, "prompts/get", json!({"name": long})).with("mcp-name", "x"),
        RawRequest::stateless(1, "resources/read", json!({"uri": long})).with("mcp-name", "x"),
        RawRequest::stateless(1, "tasks/get", json!({"taskId": long})),
        RawRequest::stateless(1, "tasks/cancel", json!({"taskId": long})),
        complete(json!({"type": "ref/prompt", "name": long}), "a"),
        complete(json!({"type": "ref/prompt", "name": "hello"}), long),
        complete(json!({"type": "ref/resource", "uri": long}), "a"),
        RawRequest::stateless(1, "x", json!({})).with("mcp-method", &long[..30_000]),
        RawRequest::post(
            json!({"jsonrpc": "2.0", "id": 1, "method": long, "params": {}}).to_string(),
        ),
        RawRequest::call(1, "whoami").with("host", &long[..30_000]),
        RawRequest::call(1, "whoami").with("origin", &format!("http://{}", &long[..30_000])),
        RawRequest::call(1, "whoami").with("mcp-protocol-version", &long[..30_000]),
    ];
    for (nth, request) in asks.iter().enumerate() {
        let rejected = server.request(request).await;
        assert!(rejected.body.len() < 3000, "{nth}: {} bytes", rejected.body.len());
        assert_ne!(rejected.body, "", "{nth}");
    }
}

#[tokio::test]
async fn long_texts_are_not_repeated_in_a_session() {
    let tools = |pool: ToolPoolBuilder| {
        let hello = Prompt::builder("hello", "Say hello.").handler(|| async { "Hello!" });
        let note = Resource::builder("note://one", "one", "A note.").handler(|| async { "text" });
        pool.add_prompt(hello).add_resource(note)
    };
    let server = TestServer::start_with(HttpOptions::default(), tools).await;
    let session = server.session(&[]).await;
    let long = &*"x".repeat(1 << 20);
    for (method, params) in [
        (long, json!({})),
        ("tools/call", json!({"name": long})),
        ("prompts/get", json!({"name": long})),
        ("resources/read", json!({"uri": long})),
        ("resources/subscribe", json!({"uri": long})),
    ] {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let rejected = server.request(&RawRequest::within(&session, &message)).await;
        assert!(rejected.body.len() < 3000, "{} bytes", rejected.body.len());
        let error = rejected.last_event()["error"]["message"].clone();
        assert!(error.as_str().is_some_and(|text| text.contains("more bytes")), "{error}");
    }
}
