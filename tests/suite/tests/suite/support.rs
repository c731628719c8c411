//! Helpers for several modules.

use serde_json::Value;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;
use suite::limit::limited;
use tool_runtime::mcp::{McpManager, McpState};
use tool_runtime::prelude::*;
use tool_runtime::{Arguments, BoxFuture, CallError, Executor, Peer, Progress};

/// Calls a tool by name and returns MCP's result.
pub(super) async fn call(pool: &ToolPool, name: &str, arguments: &str) -> Value {
    let json = pool.call_json(name, arguments).await;
    serde_json::from_str(&json).expect("a result is JSON")
}

/// Calls a tool that must succeed and returns its text.
pub(super) async fn text(pool: &ToolPool, name: &str, arguments: &str) -> String {
    let result = call(pool, name, arguments).await;
    assert_eq!(result.get("isError"), None, "{arguments}: {result}");
    result["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// Calls a tool that must fail and returns the message for the model.
pub(super) async fn error_text(pool: &ToolPool, name: &str, arguments: &str) -> String {
    let result = call(pool, name, arguments).await;
    assert_eq!(result["isError"], true, "{arguments}: {result}");
    result["content"][0]["text"].as_str().expect("a text").to_owned()
}

/// A pool of one action.
pub(super) fn pool_of<A: Action>() -> ToolPool {
    ToolPool::builder().tool::<A>().build().expect("a pool")
}

/// The class of a failed call.
pub(super) fn class(result: &ToolResult) -> ErrorClass {
    let error = result.error().unwrap_or_else(|| panic!("a success: {result:?}"));
    error.class()
}

/// Waits with a time limit: on a paused clock a hanging future fails at once, else after five minutes.
pub(super) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    let day = std::time::Duration::from_secs(86_400);
    limited(tokio::time::timeout(day, work)).await.expect("it does not hang")
}

/// Waits until an MCP server is in a state. Between two attempts to connect it has no reason.
pub(super) async fn server_state(
    manager: &McpManager,
    name: &str,
    is: impl Fn(&McpState) -> bool,
) -> McpState {
    let mut statuses = manager.statuses();
    loop {
        let state = manager.server(name).expect("a server").state;
        if is(&state) {
            return state;
        }
        in_time(statuses.next()).await.expect("a change of state");
    }
}

/// Runs a test that may block its thread, with a time limit.
pub(super) fn blocking_in_time(test: impl FnOnce() + Send + 'static) {
    let (ended, is_over) = channel();
    let test = thread::spawn(move || {
        let _ended: Sender<()> = ended;
        test();
    });
    let over = is_over.recv_timeout(Duration::from_secs(300));
    assert_eq!(
        over,
        Err(RecvTimeoutError::Disconnected),
        "the test did not end within five minutes"
    );
    test.join().unwrap_or_else(|panic| resume_unwind(panic));
}

/// A peer that records progress.
#[derive(Default)]
pub(super) struct ProgressRecorder(pub(super) Mutex<Vec<Progress>>);

impl Peer for ProgressRecorder {
    fn accepts_progress(&self) -> bool {
        true
    }

    fn progress(&self, progress: Progress) {
        self.0.lock().unwrap().push(progress);
    }
}

/// Returns the arguments unchanged.
pub(super) struct Echo;

impl Executor for Echo {
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move { Ok(Observation::text(arguments.as_str())) })
    }
}
