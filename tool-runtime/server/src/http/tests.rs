//! Requests of clients that do not quite do what the specification says.

mod access;

use super::HttpOptions;
use super::service::Service;
use crate::McpServer;
use axum::body::{Body, BodyDataStream};
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt as _;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::{Tool, ToolContext};
use tool_runtime_core::vocabulary::error::ToolError;

/// The server of a test, and the headers that its client sends.
struct Client {
    server: TowerToHyperService<axum::Router>,
    headers: Vec<(&'static str, String)>,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }

    /// The text of a result.
    fn text(&self) -> String {
        self.json()["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }
}

/// A server with a tool that reports progress, one that asks, and one that repeats its arguments.
fn server() -> McpServer {
    let report = |_: Map<String, Value>, context: ToolContext| async move {
        context.progress(1, 2, "half");
        "whole"
    };
    let ask = |_: Map<String, Value>, context: ToolContext| async move {
        let sure = context.ask::<bool>("sure", "Sure?").await;
        sure.map(|_| "asked").map_err(|error| ToolError::user(format!("not asked: {error}")))
    };
    let echo = |arguments: Map<String, Value>, _: ToolContext| async move {
        Value::from(arguments).to_string()
    };
    let schema = |names: &[&str]| {
        let properties = names.iter().map(|name| ((*name).to_owned(), json!({})));
        let properties: Map<String, Value> = properties.collect();
        json!({"type": "object", "properties": properties, "additionalProperties": false})
    };
    let pool = ToolPool::builder()
        .add(Tool::builder("report", "Report.").handler(report))
        .add(Tool::builder("ask", "Ask.").handler(ask))
        .add(Tool::builder("echo", "Echo.").input_schema(schema(&["a"])).handler(echo))
        .add(Tool::builder("chat", "Echo.").input_schema(schema(&["sessionId"])).handler(echo));
    McpServer::new(pool.build().expect("a pool"), "test", "1")
}

impl Client {
    fn new(server: &McpServer) -> Self {
        Self::with_options(server, HttpOptions::default())
    }

    fn with_options(server: &McpServer, options: HttpOptions) -> Self {
        let stop = CancellationToken::new();
        let service = Service::new(&server.handler, options, None, stop);
        Self { server: TowerToHyperService::new(service.whole_router()), headers: Vec::new() }
            .with("host", "localhost:8080")
            .with("content-type", "application/json")
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        let (parts, body) = self.respond(method, path, body).await.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        let body = String::from_utf8(body.to_vec()).expect("text");
        Answer { status: parts.status, headers: parts.headers, body }
    }

    async fn respond(&self, method: &str, path: &str, body: &Value) -> Response {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Body::from(body.to_string())).expect("a request");
        self.server.call(request).await.expect("an answer")
    }

    /// The stream that answers a message.
    async fn open(&self, message: &Value) -> BodyDataStream {
        self.respond("POST", "/mcp", message).await.into_body().into_data_stream()
    }

    async fn post(&self, message: &Value) -> Answer {
        self.send("POST", "/mcp", message).await
    }

    /// A client of 2026-07-28 that calls a tool.
    fn modern(self, tool: &str) -> (Self, Value) {
        let client = self
            .with("mcp-protocol-version", "2026-07-28")
            .with("mcp-method", "tools/call")
            .with("mcp-name", tool);
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": tool, "arguments": {}, "_meta": {
                "progressToken": "p",
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        }});
        (client, message)
    }

    /// A client in a session that it has opened.
    async fn in_session(self) -> Self {
        let answer = self.post(&initialize()).await;
        let session = answer.header("mcp-session-id").to_owned();
        assert_eq!(answer.json()["result"]["protocolVersion"], "2025-11-25");
        let client = self.with("mcp-session-id", session);
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(&ready).await.status, StatusCode::ACCEPTED);
        client
    }
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "t", "version": "1"},
    }})
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments, "_meta": {"progressToken": "p"},
    }})
}

#[tokio::test]
async fn a_client_that_accepts_json_gets_one_object() {
    let server = server();
    for accept in [None, Some("application/json"), Some("*/*"), Some("application/*;q=0.5")] {
        let client = || {
            let client = Client::new(&server);
            accept.map_or_else(|| Client::new(&server), |accept| client.with("accept", accept))
        };
        let session = client().in_session().await;
        let (modern, message) = client().modern("report");
        for answer in [session.post(&call("report", &json!({}))).await, modern.post(&message).await]
        {
            let output = format!("{accept:?}: {}", answer.body);
            assert_eq!(answer.status, StatusCode::OK, "{output}");
            assert_eq!(answer.header("content-type"), "application/json", "{output}");
            assert_eq!(answer.text(), "whole", "{output}");
        }
        let unknown = session.post(&call("nothing", &json!({}))).await;
        assert_eq!(unknown.json()["error"]["code"], -32602, "{}", unknown.body);
    }
}

#[tokio::test]
async fn a_client_that_accepts_only_event_streams_gets_one() {
    let server = server();
    let client = Client::new(&server).with("accept", "text/event-stream");
    let (client, message) = client.modern("echo");
    let answer = client.post(&message).await;
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let event = answer.body.strip_prefix("data: ").expect("an event");
    let message: Value = serde_json::from_str(event).expect("JSON");
    assert_eq!(message["result"]["content"][0]["text"], "{}");
}

#[tokio::test]
async fn a_client_that_accepts_only_json_is_not_asked() {
    let client = Client::new(&server()).with("accept", "application/json").in_session().await;
    let answer = client.post(&call("ask", &json!({}))).await;
    assert!(answer.text().contains("accepts no event stream"), "{}", answer.body);
}

#[tokio::test]
async fn a_subscription_needs_an_event_stream() {
    let client = Client::new(&server())
        .with("accept", "application/json")
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-method", "subscriptions/listen");
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {
        "notifications": {}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }});
    let answer = client.post(&message).await;
    assert_eq!(answer.status, StatusCode::NOT_ACCEPTABLE, "{}", answer.body);
    assert!(answer.body.contains("text/event-stream"), "{}", answer.body);
}

#[tokio::test]
async fn other_paths_name_the_endpoint() {
    let client = Client::new(&server());
    for (method, path) in [
        ("POST", "/mcp/"),
        ("POST", "/MCP"),
        ("POST", "/"),
        ("GET", "/sse"),
        ("GET", "/.well-known/oauth-protected-resource"),
    ] {
        let answer = client.send(method, path, &initialize()).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert!(answer.body.contains(&format!("`{path}`")), "{}", answer.body);
        assert!(answer.body.contains("http://localhost:8080/mcp\n"), "{}", answer.body);
    }
    assert_eq!(client.send("GET", "/healthz", &Value::Null).await.status, StatusCode::OK);
}

#[tokio::test]
async fn an_initialize_that_lacks_members_names_them() {
    let client = Client::new(&server()).with("accept", "application/json, text/event-stream");
    let mut broken = initialize();
    broken["params"] = json!({"protocolVersion": "2025-06-18", "clientInfo": {"name": "t"}});
    let answer = client.post(&broken).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(answer.json()["id"], 1);
    let message = answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("`capabilities` is missing"), "{message}");
    assert!(message.contains("`clientInfo.version` is missing"), "{message}");
    assert!(!message.contains("_meta"), "{message}");
    assert_eq!(client.post(&initialize()).await.status, StatusCode::OK);
}

#[tokio::test]
async fn arguments_of_the_host_are_rejected_unless_the_server_ignores_them() {
    let sent = json!({"a": 1, "toolCallId": "c", "sessionId": "s"});
    let client = |server: &McpServer| Client::new(server).with("accept", "application/json");
    let strict = client(&server()).in_session().await.post(&call("echo", &sent)).await;
    for text in
        ["`toolCallId`", "`sessionId`", "--ignore-argument toolCallId --ignore-argument sessionId"]
    {
        assert!(strict.text().contains(text), "{}", strict.body);
    }
    let server = server().with_ignored_arguments(["toolCallId", "sessionId"]);
    let session = client(&server).in_session().await;
    assert_eq!(session.post(&call("echo", &sent)).await.text(), r#"{"a":1}"#);
    let (modern, mut message) = client(&server).modern("echo");
    message["params"]["arguments"] = sent;
    assert_eq!(modern.post(&message).await.text(), r#"{"a":1}"#);
    // A tool that declares the argument keeps it.
    let declared = session.post(&call("chat", &json!({"sessionId": "s", "toolCallId": "c"}))).await;
    assert_eq!(declared.text(), r#"{"sessionId":"s"}"#);
    // Other names stay mistakes.
    let other = session.post(&call("echo", &json!({"b": 1}))).await;
    assert!(other.text().contains("`b`") && !other.text().contains("--ignore"), "{}", other.body);
}
