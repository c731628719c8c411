//! Runners and callers of the tests.

use crate::{Engine, LocalBoard, MemoryStore, Remote, RemoteBuilder, Runner};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::{Tool, ToolCall, ToolResult};
use tool_runtime_core::vocabulary::CancellationToken;
use tool_runtime_core::vocabulary::error::ErrorClass;

/// A board with its engine.
pub(super) struct Fleet {
    pub(super) engine: Engine,
}

/// A runner in a task. Dropping it is like killing its process.
pub(super) struct Running {
    token: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl Running {
    pub(super) fn start(runner: Runner, pool: ToolPool) -> Self {
        let token = CancellationToken::new();
        let end = token.clone();
        let task = tokio::spawn(async move { runner.serve_until(&pool, &end).await.unwrap() });
        Self { token, task: Some(task) }
    }

    /// Ends the process at once.
    pub(super) async fn kill(mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            drop(task.await);
        }
    }

    /// Ends it in order.
    pub(super) async fn stop(mut self) {
        self.token.cancel();
        if let Some(task) = self.task.take() {
            task.await.unwrap();
        }
    }
}

impl Fleet {
    pub(super) fn new() -> Self {
        Self { engine: Engine::new(MemoryStore::default()) }
    }

    pub(super) fn board(&self, name: &str) -> LocalBoard {
        self.engine.board(name.parse().unwrap())
    }

    /// A runner of the queue `web` with these tools.
    pub(super) fn run(&self, tools: impl IntoIterator<Item = Tool>) -> Running {
        self.run_pool(pool(tools))
    }

    pub(super) fn run_pool(&self, pool: ToolPool) -> Running {
        self.start(self.runner(), pool)
    }

    /// A runner of the queue `web`.
    pub(super) fn runner(&self) -> Runner {
        Runner::new(self.board("runner")).queue("web".parse().unwrap())
    }

    pub(super) fn start(&self, runner: Runner, pool: ToolPool) -> Running {
        Running::start(runner, pool)
    }

    /// A caller whose hints are trusted.
    pub(super) fn caller(&self) -> RemoteBuilder {
        Remote::builder(self.board("pool1")).trust(true)
    }

    /// A pool with the tools of the runners.
    pub(super) async fn connect(&self) -> (ToolPool, Remote) {
        let pool = pool([]);
        let remote = self.caller().connect(&pool).await.unwrap();
        (pool, remote)
    }
}

pub(super) fn pool(tools: impl IntoIterator<Item = Tool>) -> ToolPool {
    tools
        .into_iter()
        .fold(ToolPool::builder().allow_empty(), |it, tool| it.add(tool))
        .build()
        .unwrap()
}

/// Answers at once; safe to retry.
pub(super) fn ping() -> Tool {
    Tool::builder("ping", "Answer at once.").read_only(true).handler(|| async { "pong" })
}

/// Counts its runs, and waits for a while; may run at most once unless `is_safe`.
pub(super) fn slow(name: &str, is_safe: bool, time: Duration, runs: &Arc<AtomicUsize>) -> Tool {
    let runs = Arc::clone(runs);
    Tool::builder(name, "Take a while.").read_only(is_safe).handler(move || {
        let runs = Arc::clone(&runs);
        async move {
            runs.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(time).await;
            "done"
        }
    })
}

pub(super) async fn call(pool: &ToolPool, tool: &str) -> ToolResult {
    pool.call(ToolCall::new(tool, "{}")).await
}

pub(super) fn text(result: &ToolResult) -> String {
    result.observation().to_text()
}

pub(super) fn class(result: &ToolResult) -> Option<ErrorClass> {
    result.error().map(tool_runtime_core::vocabulary::error::CallError::class)
}

pub(super) fn names(pool: &ToolPool) -> Vec<String> {
    pool.tools().iter().map(|tool| tool.name().to_owned()).collect()
}
