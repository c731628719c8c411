//! The tools as a caller sees them.

mod agents;
mod background;
mod board;
mod delegate;
mod processes;
mod properties;
mod teams;

use super::{TaskStore, TasksParams};
use crate::{Builtins, Profile, Workspace};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::Barrier;
use tool_runtime::agent::AgentSpawner;
use tool_runtime::policy::{PermissionMode, Permissions};
use tool_runtime::prelude::*;
use tool_runtime::{Access, Principal, ToolPoolBuilder};
use tool_runtime_agent::{Agent, ScriptedModel, SubAgents};

/// More than any test takes.
const LIMIT: Duration = Duration::from_secs(60);

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.expect("it ends")
}

/// A pool over a file.
fn builder(file: &Path, agents: Option<SubAgents>, profile: Profile) -> ToolPoolBuilder {
    let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build().unwrap();
    let mut params = TasksParams::new(TaskStore::open(file).unwrap());
    if let Some(agents) = agents {
        params = params.agents(Arc::new(agents) as Arc<dyn AgentSpawner>);
    }
    let builtins = Builtins::new(workspace).profiles([profile]).tasks(params);
    ToolPool::builder().install(builtins).check_outputs()
}

/// A new file, and a pool over it.
fn board() -> (TempDir, ToolPool) {
    let directory = TempDir::new().unwrap();
    let pool = builder(&directory.path().join("tasks.db"), None, Profile::Standard);
    (directory, pool.build().unwrap())
}

async fn call_as(pool: &ToolPool, caller: &str, tool: &str, arguments: Value) -> Observation {
    let context = match caller {
        "" => pool.context(),
        id => pool.context().with_principal(Principal::new(id)),
    };
    let call = ToolCall::json(tool, arguments);
    within(pool.call_with(call, &context)).await.observation().clone()
}

/// The text of a result that is not an error.
async fn text(pool: &ToolPool, tool: &str, arguments: Value) -> String {
    let result = call_as(pool, "", tool, arguments).await;
    assert!(!result.is_error(), "{}", result.to_text());
    result.to_text()
}

/// The structured value of a result.
async fn value(pool: &ToolPool, tool: &str, arguments: Value) -> Value {
    let result = call_as(pool, "", tool, arguments).await;
    result.structured().unwrap_or_else(|| panic!("{}", result.to_text())).clone()
}

/// The text of an error.
async fn error(pool: &ToolPool, tool: &str, arguments: Value) -> String {
    let result = call_as(pool, "", tool, arguments).await;
    assert!(result.is_error(), "{}", result.to_text());
    result.to_text()
}

/// A model with these turns.
fn script(turns: Value) -> ScriptedModel {
    ScriptedModel::from_json(&turns.to_string()).unwrap()
}

/// A tool whose calls wait until two of them run at once.
fn meet() -> Tool {
    let barrier = Arc::new(Barrier::new(2));
    let tool = Tool::builder("meet", "Wait for another call.").access(|_| Access::none());
    tool.handler(move || {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            "met"
        }
    })
}
