//! One command: output, time limit, end.

use super::capture::Capture;
use super::kept::Kept;
use super::output::{Output, Text};
use super::scratch::Scratch;
use super::spawn::{Invocation, Launcher};
use crate::process::Started;
use crate::process_tree::{KillOnDrop, Tree};
use process_wrap::tokio::ChildWrapper;
use rustix::process::Signal;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tool_runtime::ToolContext;

/// Time for processes to end by themselves after `SIGTERM`. Tests see what they do in it, also on a busy machine.
const GRACE: Duration = Duration::from_millis(if cfg!(test) { 5_000 } else { 500 });
/// Time between two looks at the processes that a shell has left.
const MIN_PAUSE: Duration = Duration::from_millis(10);
const MAX_PAUSE: Duration = Duration::from_millis(500);
/// Time between two reports of progress.
const PROGRESS: Duration = Duration::from_secs(1);

/// A command that runs, and what it writes.
pub(super) struct Running {
    child: Box<dyn ChildWrapper>,
    pub(super) tree: Tree,
    /// Whether the leader is the program of a sandbox, with which all ends at once.
    is_wrapped: bool,
    pub(super) stdout: Arc<Capture>,
    pub(super) stderr: Arc<Capture>,
}

/// A command that has ended.
pub(super) struct Finished {
    /// `None` if it was ended after its time limit.
    pub(super) status: Option<ExitStatus>,
    pub(super) stdout: Text,
    pub(super) stderr: Text,
    /// A background process may still write.
    pub(super) is_open: bool,
    /// Processes could not be ended.
    pub(super) has_survivors: bool,
}

impl Running {
    /// Starts a command. `stores_all` keeps all of its output in files, for outputs that are read in parts.
    pub(super) async fn start(
        launcher: &Launcher,
        scratch: &Scratch,
        invocation: Invocation,
        kept: Kept,
        stores_all: bool,
    ) -> io::Result<Self> {
        let mut stdout = Output::new(kept.stdout, scratch.file("stdout.txt")?);
        let mut stderr = Output::new(kept.stderr, scratch.file("stderr.txt")?);
        if stores_all {
            stdout.store();
            stderr.store();
        }
        let is_wrapped = launcher.workspace.confinement().wraps();
        let Started { mut child, tree } = launcher.start(invocation).await?;
        let stdout = Arc::new(Capture::start(child.stdout().take(), stdout));
        let stderr = Arc::new(Capture::start(child.stderr().take(), stderr));
        Ok(Self { child, tree, is_wrapped, stdout, stderr })
    }

    /// Waits for the end, or ends the command and all that it started when the time is up. If the call is dropped,
    /// all is ended as well.
    pub(super) async fn finish(
        mut self,
        limit: Duration,
        context: &ToolContext,
    ) -> io::Result<Finished> {
        let guard = KillOnDrop(Some(self.tree.clone()));
        let status = self.wait(limit, context).await?;
        let has_survivors = status.is_none() && !self.terminate().await;
        guard.disarm();
        self.drain().await;
        let is_open = self.is_open() && self.outlives_shell().await;
        let (stdout, stderr) = (self.stdout.take(true), self.stderr.take(true));
        Ok(Finished { status, stdout, stderr, is_open, has_survivors })
    }

    /// The status, or `None` when the time is up.
    async fn wait(
        &mut self,
        limit: Duration,
        context: &ToolContext,
    ) -> io::Result<Option<ExitStatus>> {
        let started = Instant::now();
        loop {
            let left = limit.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            if let Ok(status) = tokio::time::timeout(left.min(PROGRESS), self.child.wait()).await {
                return status.map(Some);
            }
            let bytes = self.stdout.total() + self.stderr.total();
            let seconds = (started.elapsed().as_secs(), limit.as_secs());
            context.progress(seconds.0, seconds.1, format_args!("{bytes} bytes of output"));
        }
    }

    /// Waits for the end of the shell, which may leave processes.
    pub(super) async fn status(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Waits for the end of all processes.
    pub(super) async fn end(&mut self) {
        // An error means that there is no process to wait for.
        let _ = self.child.wait().await;
        let mut pause = MIN_PAUSE;
        while self.outlives_shell().await {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Whether some process has the output open: one in the background, or, for a moment, a process that this program
    /// starts, which has copies of all descriptors until it runs its own program.
    fn is_open(&self) -> bool {
        !self.stdout.is_closed() || !self.stderr.is_closed()
    }

    async fn outlives_shell(&mut self) -> bool {
        let mut tree = self.tree.clone();
        let looked = tokio::task::spawn_blocking(move || (tree.outlives_leader(), tree)).await;
        // Fails only if the runtime shuts down; the processes are ended then.
        let Ok((outlives, tree)) = looked else { return false };
        self.tree = tree;
        outlives
    }

    /// Waits for what was written before the end.
    pub(super) async fn drain(&self) {
        self.stdout.drain().await;
        self.stderr.drain().await;
    }

    /// Asks all processes to end, then ends them. Returns whether they have ended: those of another user do not.
    pub(super) async fn terminate(&mut self) -> bool {
        let asked = if self.is_wrapped {
            self.tree.signal_others(Signal::TERM)
        } else {
            self.tree.signal(Signal::TERM)
        };
        // A stopped process gets the signal when it continues.
        self.tree.signal(Signal::CONT);
        let _ = tokio::time::timeout(GRACE, self.end()).await;
        let tree = self.tree.clone();
        // Fails only if the runtime shuts down; the guard of the call ends the processes then.
        let ended = tokio::task::spawn_blocking(move || tree.kill_with(asked)).await;
        let has_ended = ended.unwrap_or(true);
        if has_ended {
            // An error means that there is no process to wait for.
            let _ = self.child.wait().await;
        }
        has_ended
    }
}
