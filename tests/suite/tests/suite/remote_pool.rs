//! Tools of runners in a pool: the same call site, list, policies, clients and exports as local ones.

use super::questions::{VERSIONS, answering};
use super::support::{class, in_time, pool_of};
use serde_json::json;
use std::time::Duration;
use tool_runtime::CancellationToken;
use tool_runtime::export::Api;
use tool_runtime::mcp::{McpManager, McpServer};
use tool_runtime::peer::{Answer, LogLevel};
use tool_runtime::policy::{Format, Policies, Policy};
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;
use tool_runtime::remote::{Engine, MemoryStore, Remote, Runner};
use tool_runtime::testing::{Reply, TestClient};

/// Add two numbers.
#[tool(name = "web.add", read_only, register = false)]
async fn add(
    /// The first one.
    a: i64,
    /// The second one.
    b: i64,
) -> i64 {
    a + b
}

/// Delete a file after confirmation.
#[tool(name = "web.delete", progress, register = false)]
async fn delete(
    /// The file.
    path: String,
    context: &ToolContext,
) -> Result<String, ToolError> {
    context.progress(1, 2, "asking");
    context.log(LogLevel::Info, "about to ask");
    Ok(match context.ask::<bool>("sure", format!("Delete {path}?")).await? {
        Answer::Accepted(true) => format!("{path} is deleted"),
        _ => "not deleted".to_owned(),
    })
}

/// A runner of the queue `web`, until it is dropped.
struct Running(CancellationToken);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

fn run(engine: &Engine, pool: ToolPool) -> Running {
    let board = engine.board("runner".parse().unwrap());
    let token = CancellationToken::new();
    let end = token.clone();
    let runner = Runner::new(board).queue("web".parse().unwrap());
    tokio::spawn(async move { runner.serve_until(&pool, &end).await });
    Running(token)
}

async fn connect(engine: &Engine, pool: &ToolPool) -> Remote {
    let board = engine.board("pool1".parse().unwrap());
    Remote::builder(board).trust(true).connect(pool).await.unwrap()
}

fn engine() -> Engine {
    Engine::new(MemoryStore::default())
}

fn served() -> ToolPool {
    ToolPool::builder().tool::<AddAction>().tool::<DeleteAction>().build().unwrap()
}

#[tokio::test]
async fn typed_calls_batches_and_exports_cannot_tell() {
    let engine = engine();
    let _runner = run(&engine, served());
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let _remote = connect(&engine, &pool).await;
    let sum: i64 = AddAction { a: 1, b: 2 }.call(&pool).await.unwrap();
    assert_eq!(sum, 3);
    let calls = (0..50).map(|a| ToolCall::json("web.add", json!({ "a": a, "b": 1 })));
    for (a, result) in (0..50).zip(pool.call_all(calls).await) {
        assert_eq!(result.observation().to_text(), (a + 1).to_string());
    }
    let exported = |pool: &ToolPool| pool.snapshot().export(Api::Anthropic).definitions().to_vec();
    assert_eq!(exported(&pool), exported(&served()));
}

#[tokio::test]
async fn policies_decide_about_remote_tools_by_id_and_source() {
    let engine = engine();
    let _runner = run(&engine, served());
    let policy = |rule: &str| {
        let text = format!(
            "rules:\n  - id: no\n    when: {{ {rule} }}\n    then: deny\n  - id: yes\n    then: allow\n"
        );
        Policy::parse(&text, Format::Yaml).unwrap_or_else(|error| panic!("{error}"))
    };
    for rule in ["tools: [\"web.*\"]", "sources: [\"runner:web\"]"] {
        let policies = Policies::new().policy(policy(rule));
        let pool = ToolPool::builder().allow_empty().install(policies).build().unwrap();
        let _remote = connect(&engine, &pool).await;
        let result = pool.call(ToolCall::json("web.add", json!({ "a": 1, "b": 2 }))).await;
        assert_eq!(class(&result), ErrorClass::Denied, "{rule}");
    }
}

#[tokio::test]
async fn clients_of_both_versions_call_and_answer_questions() {
    let engine = engine();
    let _runner = run(&engine, served());
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let _remote = connect(&engine, &pool).await;
    for version in VERSIONS {
        let client = answering(&pool, version, Reply::accept(json!({ "sure": true }))).await;
        let names: Vec<String> =
            client.list_tools().await.into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, ["web.add", "web.delete"], "{version:?}");
        let result = client.call("web.delete", json!({ "path": "a" })).await.unwrap();
        assert_eq!(result.to_text(), "a is deleted", "{version:?}");
        let refused = client.call("web.add", json!({ "a": "x", "b": 1 })).await.unwrap();
        assert!(refused.is_error() && refused.to_text().contains("`a`"), "{}", refused.to_text());
        client.close().await;
    }
}

/// The external servers of a runner come and go with its pool.
#[tokio::test]
async fn mcp_servers_of_a_runner_are_tools_of_its_callers() {
    let engine = engine();
    let runners = ToolPool::builder().allow_empty().build().unwrap();
    let _runner = run(&engine, runners.clone());
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let _remote = connect(&engine, &pool).await;
    let mut changes = pool.changes();
    let server = McpServer::new(pool_of::<AddAction>(), "git", "1.0.0");
    let manager = McpManager::builder().in_process("git", server).connect(&runners).await.unwrap();
    let change = in_time(changes.next()).await.unwrap();
    assert_eq!(change.added, ["git.web.add"]);
    assert_eq!(pool.report().tools[0].source, Source::runner("web"));
    let result = pool.call(ToolCall::json("git.web.add", json!({ "a": 1, "b": 2 }))).await;
    assert_eq!(result.observation().to_text(), "3");
    manager.close().await;
    assert_eq!(in_time(changes.next()).await.unwrap().removed, ["git.web.add"]);
}

/// A served pool tells its clients of tools that come while it runs.
#[tokio::test]
async fn a_client_learns_of_a_runner_that_starts_later() {
    let engine = engine();
    let pool = ToolPool::builder().allow_empty().build().unwrap();
    let board = engine.board("pool1".parse().unwrap());
    let remote = Remote::builder(board).start_timeout(Duration::from_millis(10)).connect(&pool);
    let _remote = remote.await.unwrap();
    let client = TestClient::stateless(&pool).await;
    assert!(client.list_tools().await.is_empty());
    let mut changes = pool.changes();
    let _runner = run(&engine, served());
    in_time(changes.next()).await.unwrap();
    assert_eq!(client.list_tools().await.len(), 2);
    client.close().await;
}
