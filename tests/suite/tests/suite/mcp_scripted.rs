//! Lists, requests and delays of servers that a test writes.

use crate::support::{Log, set_subscriber};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::Semaphore;
use tool_runtime::mcp::{
    McpManager, McpManagerBuilder, McpPin, McpReader, McpServerConfig, McpWriter,
};
use tool_runtime::pool::ToolStatus;
use tool_runtime::prelude::*;
use tool_runtime::testing::TestClient;
use tool_runtime::{ErrorClass, ToolDefinition};

type Error = Box<dyn std::error::Error + Send + Sync>;

fn empty() -> ToolPool {
    ToolPool::builder().allow_empty().build().unwrap()
}

async fn call(pool: &ToolPool, name: &str, arguments: Value) -> ToolResult {
    pool.call(ToolCall::new(name, arguments.to_string())).await
}

/// A connection to a server that answers each message with `answer`.
fn server(answer: impl Fn(&Value) -> Vec<Value> + Send + Sync + 'static) -> (McpReader, McpWriter) {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(serve(theirs, answer));
    let (reader, writer) = tokio::io::split(ours);
    (Box::new(reader), Box::new(writer))
}

/// Ends at a call of the tool `end`.
async fn serve(stream: DuplexStream, answer: impl Fn(&Value) -> Vec<Value>) {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        if message["params"]["name"] == "end" {
            return;
        }
        for answer in answer(&message) {
            writer.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        }
    }
}

/// A server of 2025-11-25 with some tools, which answer with their arguments.
fn default_answers(message: &Value, tools: &Value) -> Vec<Value> {
    let (id, params) = (&message["id"], &message["params"]);
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "remote", "version": "1" },
        }),
        Some("tools/list") => json!({ "tools": tools }),
        Some("tools/call") => {
            json!({ "content": [{ "type": "text", "text": params["arguments"].to_string() }] })
        }
        Some(_) if !id.is_null() => {
            let error = json!({ "code": -32601, "message": "no such method" });
            return vec![json!({ "jsonrpc": "2.0", "id": id, "error": error })];
        }
        _ => return Vec::new(),
    };
    vec![json!({ "jsonrpc": "2.0", "id": id, "result": result })]
}

fn with_tools(tools: Value) -> McpManagerBuilder {
    McpManager::builder().custom("s", move || {
        let tools = tools.clone();
        async move { Ok(server(move |message| default_answers(message, &tools))) }
    })
}

#[tokio::test]
async fn a_foreign_schema_is_repaired_ignored_or_rejected() {
    let patterned = json!({
        "type": "object",
        "properties": { "a": { "type": "string", "pattern": r"^[\w-.]+$" } },
        "x-own": 1,
    });
    let nonsense = json!({ "type": "object", "properties": { "a": { "type": "nonsense" } } });
    let tools = json!([
        { "name": "bare", "inputSchema": {} },
        { "name": "patterned", "inputSchema": patterned },
        { "name": "nonsense", "inputSchema": nonsense },
    ]);
    let pool = empty();
    let manager = with_tools(tools).connect(&pool).await.unwrap();
    let schema =
        |name: &str| Value::Object(pool.get(name).unwrap().definition().input_schema.clone());
    assert_eq!(schema("s.bare"), json!({ "type": "object" }));
    assert_eq!(schema("s.patterned"), patterned, "it is passed on unchanged");
    let listed = TestClient::stateful(&pool).await.list_tools().await;
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|tool| tool.input_schema["type"] == "object"), "{listed:?}");

    let result = call(&pool, "s.patterned", json!({ "a": "?" })).await;
    assert_eq!(result.observation().to_text(), r#"{"a":"?"}"#);
    let result = call(&pool, "s.patterned", json!({ "a": 1 })).await;
    assert_eq!(result.error().unwrap().class(), ErrorClass::Input);
    let result = call(&pool, "s.nonsense", json!({})).await;
    assert!(result.error().unwrap().message().contains("not a valid JSON Schema"), "{result:?}");

    let report = pool.report().tools.into_iter().find(|tool| tool.name == "s.nonsense").unwrap();
    assert!(matches!(report.status, ToolStatus::Quarantined { .. }), "{report:?}");
    let problems = manager.server("s").unwrap().problems;
    let says = |what: &str| problems.iter().any(|problem| problem.starts_with(what));
    assert!(says("its tool `nonsense` is left out: its `inputSchema` is not a valid JSON Schema"));
    assert!(says(r"its tool `patterned`: the pattern `^[\w-.]+$` in its `inputSchema` cannot"));
    assert_eq!(problems.len(), 2, "{problems:?}");

    let mut original = ToolDefinition::new("bare", "");
    original.input_schema.clear();
    assert_eq!(manager.pins().servers["s"]["bare"], McpPin::from_definition(&original));
}

#[tokio::test]
async fn rejected_requests_log_one_warning_per_kind() {
    const EACH: usize = 50;
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::WARN);
    let _guard = set_subscriber(subscriber.with_writer(log.clone()).finish());
    let (rejected, enough) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let (count, signal) = (Arc::clone(&rejected), Arc::clone(&enough));
    let answer = move |message: &Value| {
        if message["error"]["code"].is_i64() && message["id"].as_u64() >= Some(1000) {
            if count.fetch_add(1, Ordering::Relaxed) + 1 == 3 * EACH {
                signal.add_permits(1);
            }
            return Vec::new();
        }
        let mut answer = default_answers(message, &json!([]));
        if message["method"] == "tools/list" {
            let asks = (0..EACH).flat_map(|n| {
                let sample = json!({ "messages": [], "maxTokens": 1 });
                [
                    ("no/such", json!({})),
                    ("sampling/createMessage", sample),
                    ("roots/list", json!({})),
                ]
                .into_iter()
                .enumerate()
                .map(move |(kind, (method, params))| {
                    let id = 1000 + 3 * n + kind;
                    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
                })
            });
            answer.extend(asks);
        }
        answer
    };
    let answer = Arc::new(answer);
    let builder = McpManager::builder().custom("s", move || {
        let answer = Arc::clone(&answer);
        async move { Ok(server(move |message| answer(message))) }
    });
    let pool = empty();
    let manager = builder.connect(&pool).await.unwrap();
    let permits = tokio::time::timeout(Duration::from_secs(60), enough.acquire()).await;
    permits.expect("each request is rejected").unwrap().forget();
    manager.close().await;
    let text = log.text();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert_eq!(text.matches("a request of the server is rejected").count(), 3, "{text}");
}

/// A server that can be reached once, and not after a call of `end`.
fn reachable_once(tries: &Arc<AtomicUsize>) -> McpManagerBuilder {
    let tries = Arc::clone(tries);
    let builder = McpManager::builder().custom("s", move || {
        let is_first = tries.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            let tools = json!([{ "name": "end", "inputSchema": { "type": "object" } }]);
            let connection = || server(move |message| default_answers(message, &tools));
            is_first.then(connection).ok_or_else(|| Error::from("it is unreachable"))
        }
    });
    let hour = Duration::from_secs(3600);
    builder.retry(hour, hour)
}

#[tokio::test(start_paused = true)]
async fn calls_reconnect_a_server_at_most_four_times() {
    let tries = Arc::new(AtomicUsize::new(0));
    let pool = empty();
    let _manager = reachable_once(&tries).connect(&pool).await.unwrap();
    assert!(call(&pool, "s.end", json!({})).await.is_error());
    for expected in [2, 3, 4, 5, 5, 5] {
        // Concurrent calls share one reconnection attempt.
        let calls = (0..3).map(|_| call(&pool, "s.end", json!({})));
        for result in futures_util::future::join_all(calls).await {
            assert!(result.error().unwrap().message().contains("it is unreachable"), "{result:?}");
        }
        assert_eq!(tries.load(Ordering::Relaxed), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_waits_briefly_for_servers_and_later_tools_are_notified() {
    let gate = Arc::new(Semaphore::new(0));
    let opened = Arc::clone(&gate);
    let builder = McpManager::builder().custom("s", move || {
        let opened = Arc::clone(&opened);
        async move {
            opened.acquire().await?.forget();
            let tools = json!([{ "name": "echo", "inputSchema": { "type": "object" } }]);
            Ok(server(move |message| default_answers(message, &tools)))
        }
    });
    let limit = Duration::from_secs(7);
    let ping = Tool::builder("ping", "Answer.").handler(|| async { 1 });
    let pool = ToolPool::builder().add(ping).build().unwrap();
    let began = tokio::time::Instant::now();
    let builder = builder.list_wait(limit).connect_timeout(Duration::from_secs(600));
    let manager = builder.start(&pool).unwrap();
    let client = TestClient::stateful(&pool).await;
    assert_eq!(began.elapsed(), Duration::ZERO, "the handshake does not wait");
    assert_eq!(client.list_tools().await.len(), 1);
    assert!(began.elapsed() >= limit);
    let waited = began.elapsed();
    assert_eq!(client.list_tools().await.len(), 1);
    assert_eq!(began.elapsed(), waited, "it waits once");

    gate.add_permits(1);
    client.notification("notifications/tools/list_changed").await;
    assert_eq!(client.list_tools().await.len(), 2);
    manager.close().await;
}

/// A pool with a server that connects after three seconds.
fn with_slow_server() -> (ToolPool, McpManager) {
    let builder = McpManager::builder().custom("s", || async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        let tools = json!([{ "name": "echo", "inputSchema": { "type": "object" } }]);
        Ok(server(move |message| default_answers(message, &tools)))
    });
    let pool = empty();
    let manager = builder.start(&pool).unwrap();
    (pool, manager)
}

#[tokio::test(start_paused = true)]
async fn a_waiting_list_includes_a_server_that_connects() {
    let (pool, manager) = with_slow_server();
    let listed = TestClient::stateful(&pool).await.list_tools().await;
    assert_eq!(listed.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["s.echo"]);
    manager.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_a_server_that_connects() {
    let (pool, manager) = with_slow_server();
    let client = TestClient::stateful(&pool).await;
    let began = tokio::time::Instant::now();
    let result = client.call("s.echo", json!({})).await.expect("a result");
    assert!(!result.is_error(), "{result:?}");
    assert_eq!(began.elapsed().as_secs(), 3);
    manager.close().await;
}

#[tokio::test]
async fn the_report_names_disconnected_servers() {
    let pool = empty();
    let builder =
        with_tools(json!([])).server("no", McpServerConfig::stdio("no-such-program-here"));
    let text =
        r#"{ "bad": { "url": "ws://example.com" }, "off": { "command": "x", "enabled": false } }"#;
    let config = tool_runtime::mcp::McpConfig::loader().json(text).load_usable().unwrap();
    let manager = builder.config(config).connect(&pool).await.unwrap();
    let report = pool.report();
    let absent: Vec<_> =
        report.absent.iter().map(|server| (server.source.to_string(), &server.reason)).collect();
    assert_eq!(absent.len(), 2, "{absent:?}");
    assert!(
        absent[0].0.contains("no") && absent[0].1.contains("there is no program"),
        "{absent:?}"
    );
    assert!(absent[1].0.contains("bad") && absent[1].1.contains("WebSockets"), "{absent:?}");
    assert!(report.to_string().contains("is not connected: there is no program"), "{report}");
    let result = call(&pool, "bad.echo", json!({})).await;
    assert!(result.error().unwrap().message().contains("its entry cannot be used"), "{result:?}");
    manager.close().await;
    assert!(pool.report().absent.is_empty());
}
