//! A server, the folder that runners share, and callers.

use super::program::{Program, Running};
use super::server::{Server, Who};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::timeout;
use tool_runtime::peer::{Peer, Progress};
use tool_runtime::remote::Remote;
use tool_runtime::{ErrorClass, ToolCall, ToolPool, ToolResult};

/// The time in which all but the end of a lease happens.
pub(super) const SOON: Duration = Duration::from_secs(8);

/// The time in which a call is answered whose runner is gone without a word.
pub(super) const LEASE: Duration = Duration::from_secs(45);

pub(super) struct Place {
    program: Program,
    pub(super) server: Server,
    files: TempDir,
}

impl Place {
    pub(super) async fn new(program: Program) -> Self {
        Self { program, server: Server::start().await, files: tempfile::tempdir().unwrap() }
    }

    /// A file of the folder that runners share.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    pub(super) fn files(&self) -> &Path {
        self.files.path()
    }

    /// A file that takes what is written to it only when somebody reads: who appends to it is slow.
    pub(super) fn slow_file(&self, name: &str) -> SlowFile {
        SlowFile::create(self.file(name))
    }

    pub(super) fn run(&self, slots: usize) -> Running {
        let credentials = self.server.credentials(Who::Runner);
        self.program.start((&self.server.address, &credentials), slots, self.files())
    }

    /// A caller that knows this many runners.
    pub(super) async fn caller(&self, runners: usize) -> Caller {
        let board = self.server.board(Who::Caller).await;
        let pool = ToolPool::builder().allow_empty().build().unwrap();
        let remote = Remote::builder(board).trust(true).connect(&pool).await.unwrap();
        let caller = Caller { pool, remote };
        caller.until(|status| status == runners).await;
        caller
    }
}

/// A pool with the tools of runners.
pub(super) struct Caller {
    pub(super) pool: ToolPool,
    pub(super) remote: Remote,
}

impl Caller {
    /// Waits until as many runners serve as expected.
    pub(super) async fn until(&self, is_enough: impl Fn(usize) -> bool) {
        let enough = async {
            loop {
                let queues = self.remote.status().await.queues;
                let runners = queues.iter().flat_map(|queue| &queue.runners);
                if is_enough(runners.filter(|runner| !runner.leaves).count()) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(SOON, enough).await.expect("the runners are there in time");
    }

    pub(super) async fn call(&self, tool: &str, arguments: &str) -> ToolResult {
        self.call_with(tool, arguments, &Arc::default()).await
    }

    pub(super) async fn call_with(
        &self,
        tool: &str,
        arguments: &str,
        peer: &Arc<Heard>,
    ) -> ToolResult {
        let context = self.pool.context().with_peer(Arc::clone(peer) as _);
        self.pool.call_with(ToolCall::new(tool, arguments), &context).await
    }

    /// A call that runs: the tool has told its progress.
    pub(super) fn running(&self, tool: &str, arguments: &str) -> (Call, Arc<Heard>) {
        let (pool, heard) = (self.pool.clone(), Arc::<Heard>::default());
        let call = ToolCall::new(tool, arguments);
        let context = pool.context().with_peer(Arc::clone(&heard) as _);
        (Call(tokio::spawn(async move { pool.call_with(call, &context).await })), heard)
    }
}

/// A call in a task, which is dropped with it.
pub(super) struct Call(tokio::task::JoinHandle<ToolResult>);

impl Call {
    pub(super) async fn within(&mut self, limit: Duration) -> ToolResult {
        timeout(limit, &mut self.0).await.expect("it is answered in time").unwrap()
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A client that hears of progress.
#[derive(Default)]
pub(super) struct Heard {
    progress: std::sync::Mutex<Vec<Progress>>,
    news: tokio::sync::Notify,
}

impl Peer for Heard {
    fn accepts_progress(&self) -> bool {
        true
    }

    fn progress(&self, progress: Progress) {
        self.progress.lock().unwrap().push(progress);
        self.news.notify_one();
    }
}

impl Heard {
    /// Waits for the first report.
    pub(super) async fn first(&self) -> Progress {
        timeout(SOON, self.news.notified()).await.expect("the tool reports progress");
        self.progress.lock().unwrap()[0].clone()
    }
}

pub(super) fn text(result: &ToolResult) -> String {
    result.observation().to_text()
}

pub(super) fn class(result: &ToolResult) -> Option<ErrorClass> {
    result.error().map(tool_runtime::CallError::class)
}

/// The runner that answered.
pub(super) fn runner(result: &ToolResult) -> String {
    let meta = result.observation().meta().expect("its runner");
    meta["tool-runtime/runner"]["id"].as_str().unwrap().to_owned()
}

/// A named pipe.
pub(super) struct SlowFile(PathBuf);

impl SlowFile {
    fn create(path: PathBuf) -> Self {
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        Self(path)
    }

    /// Waits until somebody writes, and returns what there is to read.
    pub(super) async fn begun(&self) -> Reader {
        let path = self.0.clone();
        let open = tokio::task::spawn_blocking(move || std::fs::File::open(path).unwrap());
        Reader(timeout(SOON, open).await.expect("somebody writes").unwrap())
    }
}

/// The reading end of a named pipe.
pub(super) struct Reader(std::fs::File);

impl Reader {
    /// Reads until the writers are gone.
    pub(super) async fn rest(self) -> String {
        let read = tokio::task::spawn_blocking(move || std::io::read_to_string(self.0).unwrap());
        timeout(SOON, read).await.expect("the writers end").unwrap()
    }
}
