//! The fast path answers with the same bytes as rmcp's service loop.
//!
//! An in-memory server polls plain calls in the reading task if its runtime has workers, and passes all
//! calls to rmcp on a single thread.

use super::support::in_time;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::runtime::{Builder, Runtime};
use tool_runtime::mcp::McpServer;
use tool_runtime::peer::{Answer, LogLevel};
use tool_runtime::prelude::*;

/// The tasks that calls of `add` ran in.
#[derive(Clone, Default)]
struct Tasks(Arc<Mutex<BTreeSet<String>>>);

/// Add two integers.
#[tool(register = false, read_only)]
async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: Option<i64>,
    tasks: &Tasks,
) -> Json<Value> {
    tasks.0.lock().unwrap().insert(tokio::task::id().to_string());
    Json(json!({ "sum": a + b.unwrap_or(1) }))
}

/// List the numbers below one.
#[tool(register = false)]
async fn list_below(
    /// The end.
    end: u32,
) -> Json<Vec<u32>> {
    Json((0..end).collect())
}

/// Wait.
#[tool(register = false)]
async fn wait(
    /// Milliseconds.
    millis: u64,
) -> String {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    format!("waited {millis}")
}

/// Never answer.
#[tool(register = false)]
async fn hang() {
    std::future::pending::<()>().await;
}

/// Never answer, with a short time limit.
#[tool(register = false, timeout = "50ms")]
async fn hang_briefly() {
    std::future::pending::<()>().await;
}

/// Fail.
#[tool(register = false)]
async fn fail() -> Result<String, ToolError> {
    Err(ToolError::user("there is \"nothing\"\nhere"))
}

/// Panic.
#[tool(register = false)]
async fn panic() -> String {
    panic!("on purpose")
}

/// Report and log.
#[tool(register = false, progress)]
async fn report(context: &ToolContext) -> &'static str {
    context.log(LogLevel::Error, json!({"at": "begin"}));
    context.progress(1, 2, "half");
    tokio::task::yield_now().await;
    context.log(LogLevel::Error, "end");
    "reported"
}

/// Ask twice.
#[tool(register = false)]
async fn ask(context: &ToolContext) -> Result<String, ToolError> {
    let first = context.ask::<bool>("first", "First?").await?;
    let second = context.ask::<bool>("second", "Second?").await?;
    Ok(format!("{} {}", first == Answer::Accepted(true), second == Answer::Accepted(true)))
}

/// Answer now or later.
#[tool(register = false, task = "optional")]
async fn answer_as_task() -> &'static str {
    "now"
}

/// Call another tool.
#[tool(register = false)]
async fn nested(context: &ToolContext) -> String {
    let call = ToolCall::new("add", r#"{"a":1}"#);
    context.call(call).await.observation().to_text()
}

fn pool(tasks: Tasks) -> ToolPool {
    ToolPool::builder()
        .tool::<AddAction>()
        .tool::<ListBelowAction>()
        .tool::<WaitAction>()
        .tool::<HangAction>()
        .tool::<HangBrieflyAction>()
        .tool::<FailAction>()
        .tool::<PanicAction>()
        .tool::<ReportAction>()
        .tool::<AskAction>()
        .tool::<AnswerAsTaskAction>()
        .tool::<NestedAction>()
        .state(tasks)
        .build()
        .expect("a pool")
}

/// A client that writes lines and records the answers.
struct Client {
    stream: BufReader<DuplexStream>,
    is_stateless: bool,
    lines: Vec<String>,
}

impl Client {
    async fn write(&mut self, line: &str) {
        self.stream.write_all(line.as_bytes()).await.expect("it reads");
        self.stream.write_all(b"\n").await.expect("it reads");
    }

    /// Reads up to the answer to a request, or up to a request of the server.
    async fn read(&mut self, until: &Value) -> Value {
        loop {
            let mut line = String::new();
            in_time(self.stream.read_line(&mut line)).await.expect("UTF-8");
            let message: Value = serde_json::from_str(&line).expect("a message");
            self.lines.push(without_state(&line, &message));
            let is_answer = message["method"].is_null() && message["id"] == *until;
            if is_answer || (message["method"].is_string() && !message["id"].is_null()) {
                return message;
            }
        }
    }

    fn request(&self, id: &Value, method: &str, params: Value) -> String {
        let mut params = params;
        if self.is_stateless {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({
                "elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}},
            });
            meta["io.modelcontextprotocol/logLevel"] = json!("debug");
        }
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    }

    async fn send_call(&mut self, id: &Value, params: Value) {
        let call = self.request(id, "tools/call", params);
        self.write(&call).await;
    }

    async fn call(&mut self, id: Value, params: Value) -> Value {
        self.send_call(&id, params).await;
        self.read(&id).await
    }
}

/// The only random part of a line is the state for the client.
fn without_state(line: &str, message: &Value) -> String {
    match message["result"]["requestState"].as_str() {
        Some(state) => line.replace(state, "STATE"),
        None => line.to_owned(),
    }
}

/// All kinds of requests, in a deterministic order.
async fn script(mut client: Client) -> Vec<String> {
    if client.is_stateless {
        let discover = client.request(&json!("d"), "server/discover", json!({}));
        client.write(&discover).await;
        client.read(&json!("d")).await;
    } else {
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "t", "version": "1"},
        }});
        client.write(&hello.to_string()).await;
        client.read(&json!(0)).await;
        client.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    }
    // The first calls may be answered by rmcp.
    client.call(json!("open"), json!({"name": "add", "arguments": {"a": 1}})).await;
    plain_calls(&mut client).await;
    calls_in_flight(&mut client).await;
    questions(&mut client).await;
    client.lines
}

async fn plain_calls(client: &mut Client) {
    let calls = [
        json!({"name": "add", "arguments": {"a": 1, "b": 2}}),
        json!({"name": "add", "arguments": {"a": 1, "b": 2}}),
        json!({"name": "add", "arguments": {"a": "1"}}),
        json!({"name": "add", "arguments": {"c": 1}}),
        json!({"name": "add", "arguments": [1, 2]}),
        json!({"name": "add", "arguments": null}),
        json!({"name": "add"}),
        json!({"name": "ad", "arguments": {}}),
        json!({"name": "\u{1F980}\"\\\n", "arguments": {}}),
        json!({"name": "list_below", "arguments": {"end": 3}}),
        json!({"name": "wait", "arguments": {"millis": 0}}),
        json!({"name": "wait", "arguments": {"millis": 5}, "_meta": {"progressToken": "p"}}),
        json!({"name": "hang_briefly", "arguments": {}}),
        json!({"name": "fail", "arguments": {}}),
        json!({"name": "panic", "arguments": {}}),
        json!({"name": "report", "arguments": {}, "_meta": {"progressToken": 7}}),
        json!({"name": "report", "arguments": {}}),
        json!({"name": "answer_as_task", "arguments": {}}),
        json!({"name": "nested", "arguments": {}}),
        json!({"name": 7, "arguments": {}}),
        json!({"arguments": {}}),
        json!({"name": "add", "arguments": {"a": 1}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2000-01-01"}}),
    ];
    for (n, params) in calls.into_iter().enumerate() {
        client.call(json!(n + 1), params.clone()).await;
        client.call(json!(format!("text {n} \"\u{e9}\"")), params).await;
    }
    for line in [
        r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"add"},"result":{}}"#,
        r#"{"jsonrpc":"1.0","id":"x","method":"tools/call","params":{"name":"add"}}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"add"}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"add"}}"#,
        "not json",
    ] {
        client.write(line).await;
    }
    let with_arrays = [
        r#"{"jsonrpc":"2.0","id":"m","method":"tools/call","params":{"name":"add","arguments":{"a":1},"_meta":[null]}}"#,
        r#"{"jsonrpc":"2.0","id":"p","method":"tools/call","params":[null,"add",{"a":1},null,null]}"#,
    ];
    for line in with_arrays {
        client.write(line).await;
        let id = serde_json::from_str::<Value>(line).expect("it is JSON")["id"].take();
        client.read(&id).await;
    }
    client.call(json!("after"), json!({"name": "add", "arguments": {"a": 4}})).await;
}

/// Cancellations, duplicate ids, and answers out of order.
async fn calls_in_flight(client: &mut Client) {
    let hang = json!({"name": "hang", "arguments": {}});
    client.send_call(&json!("hang"), hang.clone()).await;
    client.call(json!("hang"), hang.clone()).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": "hang", "reason": "enough"}});
    client.write(&cancel.to_string()).await;
    // Another id: rmcp may answer the first of two requests with the same id immediately.
    client.call(json!("next"), json!({"name": "add", "arguments": {"a": 5}})).await;
    client.write(&cancel.to_string()).await;
    client.send_call(&json!("late"), json!({"name": "wait", "arguments": {"millis": 100}})).await;
    client.call(json!("early"), json!({"name": "add", "arguments": {"a": 6}})).await;
    client.read(&json!("late")).await;
}

/// Questions of the server, answered according to the protocol version.
async fn questions(client: &mut Client) {
    let params = json!({"name": "ask", "arguments": {}});
    let mut message = client.call(json!("ask"), params.clone()).await;
    for round in 0..2 {
        let answer = json!({"action": "accept", "content": {}});
        if client.is_stateless {
            let result = &message["result"];
            let questions = result["inputRequests"].as_object().expect("questions");
            let mut answered = params.clone();
            answered["requestState"] = result["requestState"].clone();
            for key in questions.keys() {
                let mut answer = answer.clone();
                answer["content"][key] = json!(true);
                answered["inputResponses"][key] = answer;
            }
            message = client.call(json!(format!("ask {round}")), answered).await;
        } else {
            let mut answer = answer;
            let schema = &message["params"]["requestedSchema"]["properties"];
            for key in schema.as_object().expect("a form").keys() {
                answer["content"][key] = json!(true);
            }
            let id = &message["id"];
            let line = json!({"jsonrpc": "2.0", "id": id, "result": answer}).to_string();
            client.write(&line).await;
            message = client.read(&json!("ask")).await;
        }
    }
}

/// Serves a client that runs a script.
fn serve<T>(
    runtime: &Runtime,
    tasks: &Tasks,
    is_stateless: bool,
    script: impl AsyncFnOnce(Client) -> T,
) -> T {
    runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let server = McpServer::new(pool(tasks.clone()), "t", "1");
        let serving = tokio::spawn(server.serve_in_memory(theirs, None));
        let client = Client { stream: BufReader::new(ours), is_stateless, lines: Vec::new() };
        let output = in_time(script(client)).await;
        in_time(serving).await.expect("no panic").expect("it ends well");
        output
    })
}

/// A runtime whose servers pass all calls to rmcp.
fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A runtime whose servers poll plain calls in the reading task.
fn workers() -> Runtime {
    Builder::new_multi_thread().worker_threads(3).enable_all().build().expect("a runtime")
}

fn compare(is_stateless: bool) {
    let by_rmcp = serve(&one_thread(), &Tasks::default(), is_stateless, script);
    let fast = serve(&workers(), &Tasks::default(), is_stateless, script);
    for (by_rmcp, fast) in by_rmcp.iter().zip(&fast) {
        assert_eq!(by_rmcp, fast);
    }
    assert_eq!(by_rmcp.len(), fast.len(), "{:?} and {:?}", by_rmcp.last(), fast.last());
}

#[test]
fn answers_of_2025_11_25_are_equal() {
    compare(false);
}

#[test]
fn answers_of_2026_07_28_are_equal() {
    compare(true);
}

/// Whether two calls of a connection ran in one task.
fn shares_a_task(runtime: &Runtime) -> bool {
    let tasks = Tasks::default();
    let calls = 3;
    serve(runtime, &tasks, true, async |mut client: Client| {
        for n in 0..calls {
            client.call(json!(n), json!({"name": "add", "arguments": {"a": n}})).await;
        }
    });
    let count = tasks.0.lock().unwrap().len();
    count < calls
}

#[test]
fn plain_calls_run_in_the_reading_task() {
    // A call that the system preempts for 5 ms seems to block its thread, and later calls of its connection have tasks of
    // their own. Other connections are not affected.
    let fast = workers();
    assert!((0..20).any(|_| shares_a_task(&fast)));
    assert!(!shares_a_task(&one_thread()));
}
