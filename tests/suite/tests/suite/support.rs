//! Helpers for several modules.

use serde_json::Value;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use suite::limit::limited;
use suite::process::is_child;
use tempfile::TempDir;
use tokio::task::spawn_blocking;
use tokio::time::advance;
use tool_runtime::mcp::{McpManager, McpState};
use tool_runtime::peer::{Peer, Progress};
use tool_runtime::prelude::*;
use tool_runtime::tool::{Arguments, Executor};
use tool_runtime::{BoxFuture, CallError};
use tracing::Subscriber;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing_subscriber::fmt::MakeWriter;

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
    result["content"][0]["text"].as_str().expect("a string").to_owned()
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

/// A directory that is removed when the test ends.
pub(super) struct Directory(TempDir);

impl Directory {
    pub(super) fn new() -> Self {
        Self(TempDir::new().expect("a directory"))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The path of a file in the directory.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file and returns its path.
    pub(super) fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.file(name);
        std::fs::write(&file, text).expect("a file");
        file
    }
}

/// Collects the output of a subscriber of `tracing`.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(super) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).expect("UTF-8")
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Sets a subscriber for this thread. While it is the only one of the process, `tracing` takes that of the thread which reaches
/// an event first for all, and forgets the event if that has none; so the process has another one, which takes nothing.
pub(super) fn set_subscriber(subscriber: impl Subscriber + Send + Sync) -> DefaultGuard {
    let _is_first = tracing::subscriber::set_global_default(NoSubscriber::new());
    tracing::subscriber::set_default(subscriber)
}

/// Waits with a time limit: on a paused clock a hanging future fails at once, else after five minutes.
pub(super) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    let day = std::time::Duration::from_secs(86_400);
    limited(tokio::time::timeout(day, work)).await.expect("it does not hang")
}

/// A clock that stands still, also while the test waits for sockets and processes, and that only `advance` moves.
/// When this is dropped, the clock is an ordinary paused one, which advances while the test has nothing to do.
pub(super) struct StoppedClock(#[expect(dead_code, reason = "dropped")] Sender<()>);

impl StoppedClock {
    /// Stops the clock of a test with `start_paused`.
    pub(super) fn hold() -> Self {
        // A paused clock does not advance by itself while a blocking task runs.
        let (guard, dropped) = channel::<()>();
        spawn_blocking(move || dropped.recv());
        Self(guard)
    }

    /// Moves the clock by steps until some work is done that waits for the clock, at a time that the test does not see.
    pub(super) async fn advance_until<T>(
        &self,
        step: Duration,
        work: impl Future<Output = T>,
    ) -> T {
        let advancing = async {
            loop {
                advance(step).await;
            }
        };
        limited(async {
            tokio::select! {
                biased;
                done = work => done,
                never = advancing => never,
            }
        })
        .await
    }
}

/// A named pipe that processes hold open. It ends with the last of them, which needs no look at their ids.
pub(super) struct HeldPipe(Receiver<()>);

impl HeldPipe {
    /// A pipe at a path. Writing to it waits until it exists, and reading until there is a writer.
    pub(super) fn new(path: &Path) -> Self {
        drop(std::fs::remove_file(path));
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).expect("a pipe");
        let (held, ended) = channel();
        let path = path.to_owned();
        thread::spawn(move || {
            let _held: Sender<()> = held;
            std::fs::read(path).expect("it can be read");
        });
        Self(ended)
    }

    /// Waits until no process holds the pipe.
    pub(super) fn ended(self) {
        let ended = self.0.recv_timeout(Duration::from_secs(300));
        assert_eq!(ended, Err(RecvTimeoutError::Disconnected), "a process lives on");
    }
}

/// Whether the process of the last line of a file of starts was not waited for.
pub(super) fn is_running(starts: &Path) -> bool {
    let ids = std::fs::read_to_string(starts).expect("a file of starts");
    let last = ids.lines().next_back().expect("a start");
    is_child(last.parse().expect("the id of a process"))
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
