//! Real servers that are not connected yet, or no longer.

use super::super::leaks::{eventually, kill_workers};
use super::super::support::{class, in_time, server_state};
use super::fixture::{Fixture, Started, manager_builder};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use suite::peers::Server;
use tool_runtime::ErrorClass;
use tool_runtime::mcp::{McpManagerBuilder, McpServerConfig, McpState};
use tool_runtime::prelude::*;

fn manager() -> McpManagerBuilder {
    manager_builder().retry(Duration::from_millis(50), Duration::from_millis(200))
}

async fn call(pool: &ToolPool, name: &str, arguments: Value) -> ToolResult {
    pool.call(ToolCall::new(name, arguments.to_string())).await
}

fn names(pool: &ToolPool) -> Vec<String> {
    pool.tools().iter().map(|tool| tool.name().to_owned()).collect()
}

#[tokio::test]
async fn a_server_installed_later_does_not_rename_other_tools() {
    let fixture = Fixture::new("late");
    let program = fixture.path("late-server");
    let pool = ToolPool::builder().build().unwrap();
    let late = McpServerConfig::stdio(program.as_str());
    let builder = manager().server("late", late).server("git", fixture.server(Server::Git));
    let manager = builder.connect(&pool).await.unwrap();

    let state = server_state(&manager, "late", |state| state.reason().is_some()).await;
    assert!(state.reason().unwrap().contains(&program), "{state}");
    let away = call(&pool, "late.get_current_time", json!({ "timezone": "UTC" })).await;
    let message = away.observation().to_text();
    assert!(message.contains("MCP server `late`") && message.contains(&program), "{message}");
    let before = names(&pool);
    assert_eq!(before.len(), 12, "{before:?}");

    symlink(&Server::Time.command()[0], &program).unwrap();
    server_state(&manager, "late", |state| *state == McpState::Ready).await;
    let time = call(&pool, "late.get_current_time", json!({ "timezone": "UTC" })).await;
    assert!(!time.is_error(), "{time:?}");
    // A second server of the same kind does not take the names of the first.
    manager.add("time", fixture.server(Server::Time)).await.unwrap();
    manager.settled().await;
    let after = names(&pool);
    assert_eq!(after.len(), 16, "{after:?}");
    assert!(before.iter().all(|name| after.contains(name)), "{after:?}");
    manager.close().await;
}

#[tokio::test]
async fn a_repeatable_call_succeeds_after_its_server_is_killed() {
    let fixture = Fixture::new("killed");
    let pool = ToolPool::builder().build().unwrap();
    // Its annotations are trusted: a lost call may be repeated.
    let builder = manager().server("it", fixture.server(Server::Everything)).trust("it");
    let manager = builder.connect(&pool).await.unwrap();
    let started = Arc::new(Started::default());
    let context = pool.context().with_peer(started.clone());
    let arguments = json!({ "duration": 1, "steps": 4 });
    let long = ToolCall::new("it.trigger-long-running-operation", arguments.to_string());
    let kill = async {
        in_time(started.0.notified()).await;
        kill_workers(fixture.folder());
    };
    let (result, ()) = tokio::join!(pool.call_with(long, &context), kill);
    assert!(result.observation().to_text().contains("completed"), "{result:?}");
    server_state(&manager, "it", |state| *state == McpState::Ready).await;
    manager.close().await;
}

#[tokio::test]
async fn a_call_that_changes_something_is_not_repeated_when_its_server_is_killed() {
    let fixture = Fixture::new("undone");
    let pool = ToolPool::builder().build().unwrap();
    let manager = manager().server("it", fixture.server(Server::Sqlite));
    let manager = manager.connect(&pool).await.unwrap();
    call(&pool, "it.create_table", json!({ "query": "CREATE TABLE t (n INTEGER)" })).await;
    let endless = "INSERT INTO t WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c";
    let writing = tokio::spawn({
        let pool = pool.clone();
        async move { call(&pool, "it.write_query", json!({ "query": endless })).await }
    });
    let journal = fixture.path("x.db-journal");
    let is_writing =
        tokio::task::spawn_blocking(move || eventually(|| Path::new(&journal).exists()));
    assert!(is_writing.await.unwrap(), "it writes");
    kill_workers(fixture.folder());
    let lost = writing.await.unwrap();
    assert_eq!(class(&lost), ErrorClass::Indeterminate, "{lost:?}");
    let message = lost.observation().to_text();
    assert!(
        message.contains("SIGKILL") || message.contains("was lost while it worked"),
        "{message}"
    );
    // The next call waits for the restart, and finds the earlier data.
    let count = json!({ "query": "SELECT count(*) AS n FROM t" });
    let count = call(&pool, "it.read_query", count).await;
    assert_eq!(count.observation().to_text(), "[{'n': 0}]");
    manager.close().await;
}
