//! A running child process, for its connection.

use super::command::Command;
use super::error::SpawnError;
use super::exit::Exit;
use super::stderr::Stderr;
use super::stdin::{Closer, Stdin};
use super::system::{self, Lifecycle, Started, Stdout};
use super::tail::Tail;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// Grace period of each step when a dropped child is ended.
const DROP_GRACE: Duration = Duration::from_secs(2);

/// A started child and its streams.
pub(crate) struct Spawned {
    /// Ends the child when dropped.
    pub(crate) child: Child,
    /// The child's input. Dropping it ends the input, and so does closing the child.
    pub(crate) stdin: Stdin,
    pub(crate) stdout: Stdout,
}

/// A child process with its descendants: its process group, or its job on Windows.
///
/// Dropping it closes it in the background, with two seconds for each step.
pub(crate) struct Child {
    lifecycle: Arc<Lifecycle>,
    stdin: Closer,
    stderr: Stderr,
}

impl Child {
    /// Starts a child. `server` is its name in the log, which gets every line of its standard error at
    /// debug level (`tool_runtime::mcp::server_stderr`). `on_gone` is dropped when no descendant is left.
    ///
    /// Dropping the future ends a child that may have been started.
    ///
    /// # Errors
    /// The program is not found, or the system does not start it.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O.
    pub(crate) async fn spawn(
        command: &Command,
        server: &str,
        on_gone: TaskTrackerToken,
    ) -> Result<Spawned, SpawnError> {
        let Started { lifecycle, stdin, stdout, stderr, outcome } =
            system::start(command, on_gone)?;
        let (stdin, closer) = Stdin::new(stdin);
        let watched = Arc::clone(&lifecycle);
        let stderr =
            Stderr::drain(stderr, command, server, async move { watched.exit.wait().await });
        let child = Self { lifecycle, stdin: closer, stderr };
        outcome.await?;
        Ok(Spawned { child, stdin, stdout })
    }

    /// The exit of the child, if it has exited; descendants may still run.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.lifecycle.exit.exit()
    }

    /// Waits for the child's exit and its last output: afterwards [`Child::stderr_tail`] is complete.
    pub(crate) async fn exited(&self) -> Exit {
        let exit = self.lifecycle.exit.exited().await;
        self.stderr.drained().await;
        exit.unwrap_or(Exit::Unknown)
    }

    /// Collects output that is not a message for [`Child::stderr_tail`].
    pub(crate) fn stdout_noise(&self, server: &Arc<str>) -> StdoutNoise {
        StdoutNoise { tail: Arc::clone(self.stderr.tail()), server: Arc::clone(server) }
    }

    /// The last lines of its standard error and of noise on its standard output, at most 200 and 16
    /// KiB, without control characters and secrets.
    pub(crate) fn stderr_tail(&self) -> String {
        self.stderr.tail().text()
    }

    /// Ends the child's input, terminates it after `grace` and kills it after a second grace period; on Windows it
    /// is killed after the first one. Waits until no descendant is left, at most a second longer than the
    /// kill takes: a process can be stuck in the kernel.
    ///
    /// The grace period of the first call applies; later calls wait for the same end. Dropping the
    /// future stops only the wait.
    pub(crate) async fn close(&self, grace: Duration) {
        self.begin_shutdown(grace);
        self.lifecycle.exit.wait().await;
    }

    /// As [`Self::close`], with the grace period of each step: a test waits only for the first one.
    #[cfg(all(test, unix))]
    pub(crate) async fn close_in_steps(&self, first: Duration, second: Duration) {
        self.stdin.close();
        self.lifecycle.begin_shutdown_in_steps(first, second);
        self.lifecycle.exit.wait().await;
    }

    fn begin_shutdown(&self, grace: Duration) {
        self.stdin.close();
        self.lifecycle.begin_shutdown(grace);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.begin_shutdown(DROP_GRACE);
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("exit", &self.exit()).finish_non_exhaustive()
    }
}

/// Collects lines on a child's standard output that are not messages.
pub(crate) struct StdoutNoise {
    tail: Arc<Tail>,
    server: Arc<str>,
}

impl StdoutNoise {
    /// Adds a line to those of the standard error, and logs it at debug level.
    pub(crate) fn keep(&self, line: &[u8]) {
        self.tail.take_line(line, |line| {
            tracing::debug!(target: "tool_runtime::mcp::server_stdout", server = &*self.server, "{line}");
        });
    }
}
