//! Six servers leave no processes behind when their manager is closed or dropped.

use super::super::leaks::{ProcessResources, eventually, workers};
use super::super::own_process::in_separate_process;
use super::super::support::in_time;
use super::fixture::{Fixture, Started, manager_builder};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tool_runtime::mcp::McpManager;
use tool_runtime::prelude::*;

const LIMIT: Duration = Duration::from_secs(600);

/// Connects to all servers, and leaves a call running.
async fn connect_and_call(fixture: &Fixture) -> (ToolPool, McpManager) {
    let pool = ToolPool::builder().build().unwrap();
    let manager = manager_builder().config(fixture.config()).connect(&pool).await.unwrap();
    let started = Arc::new(Started::default());
    let context = pool.context().with_peer(started.clone());
    let arguments = json!({ "duration": 600, "steps": 6000 });
    let call = ToolCall::new("everything.trigger-long-running-operation", arguments.to_string());
    let calling = pool.clone();
    tokio::spawn(async move { calling.call_with(call, &context).await });
    in_time(started.0.notified()).await;
    (pool, manager)
}

#[test]
fn a_closed_manager_leaves_no_tools() {
    in_separate_process("real_servers::orphans::a_closed_manager_leaves_no_tools", LIMIT, || {
        let fixture = Fixture::new("closed");
        // Time limit that includes the installation of the servers.
        fixture.config();
        let before = ProcessResources::before();
        let runtime = Runtime::new().unwrap();
        runtime.block_on(async {
            let (_pool, manager) = connect_and_call(&fixture).await;
            assert!(workers(fixture.folder()).len() >= 6);
            manager.close().await;
            assert_eq!(workers(fixture.folder()), [0; 0], "no process is left after closing");
        });
        drop(runtime);
        before.are_released().unwrap();
    });
}

#[test]
fn a_dropped_runtime_leaves_no_process() {
    in_separate_process(
        "real_servers::orphans::a_dropped_runtime_leaves_no_process",
        LIMIT,
        || {
            let fixture = Fixture::new("lost");
            fixture.config();
            let before = ProcessResources::before();
            let runtime = Runtime::new().unwrap();
            let manager = runtime.block_on(connect_and_call(&fixture));
            drop(runtime);
            assert!(eventually(|| workers(fixture.folder()).is_empty()), "they go by themselves");
            drop(manager);
            before.are_released().unwrap();
        },
    );
}
