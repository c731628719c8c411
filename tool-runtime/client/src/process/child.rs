//! A running child process, for its connection.

use super::child_monitor::{self, Streams};
use super::command::Command;
use super::error::SpawnError;
use super::exit::Exit;
use super::lifecycle::Life;
use super::stderr::Stderr;
use super::stdin::{Closer, Stdin};
use super::stdout_noise::Stray;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio_util::task::task_tracker::TaskTrackerToken;

/// How long a child that is dropped may take for each step.
const GRACE_OF_DROPPED: Duration = Duration::from_secs(2);

/// A child that has been started, and its streams.
pub(crate) struct Spawned {
    /// Ends the child when it is dropped.
    pub(crate) child: Child,
    /// What the child reads. Dropping it ends the child's input, and so does closing the child.
    pub(crate) stdin: Stdin,
    /// What the child prints.
    pub(crate) stdout: Receiver,
}

/// A child process with all of its group.
///
/// Dropping it closes it in the background, with two seconds for each step. Neither that nor
/// closing needs the runtime in which it was started.
pub(crate) struct Child {
    life: Arc<Life>,
    stdin: Closer,
    stderr: Stderr,
}

impl Child {
    /// Starts a child. `server` is its name in the log, where every line of its standard error
    /// goes at debug level (`tool_runtime::mcp::server_stderr`). It is counted until nobody of its
    /// group is left.
    ///
    /// Dropping the future lets go of a child that may have been started.
    ///
    /// # Errors
    /// The program is not found, or the system does not start it.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O.
    pub(crate) async fn spawn(
        command: &Command,
        server: &str,
        counted: TaskTrackerToken,
    ) -> Result<Spawned, SpawnError> {
        let failed = |source| SpawnError::System { program: command.program.clone(), source };
        let (streams, [to, from, log]) = pipes().map_err(failed)?;
        let (stdin, closer) = Stdin::over(Sender::from_owned_fd(to).map_err(failed)?);
        let stdout = Receiver::from_owned_fd(from).map_err(failed)?;
        let log = Receiver::from_owned_fd(log).map_err(failed)?;
        let life = Life::new();
        let over = Arc::clone(&life);
        let stderr = Stderr::drain(log, command, server, async move { over.over().await });
        let child = Self { life, stdin: closer, stderr };
        let started =
            child_monitor::start(command.clone(), streams, Arc::clone(&child.life), counted);
        // Nothing comes of a thread that panicked.
        let started = started.map_err(failed)?.await;
        started.unwrap_or_else(|_| Err(failed(io::ErrorKind::Other.into())))?;
        Ok(Spawned { child, stdin, stdout })
    }

    /// How the child ended, if it has; what it started may still be there.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.life.exit()
    }

    /// Waits until the child has ended, by itself or not, and for what it had to say: after this
    /// [`Child::stderr_tail`] has its last words.
    pub(crate) async fn exited(&self) -> Exit {
        let exit = self.life.exited().await;
        self.stderr.drained().await;
        exit.unwrap_or(Exit::Unknown)
    }

    /// Keeps what it prints that is not a message, for [`Child::stderr_tail`].
    pub(crate) fn stray(&self, server: &Arc<str>) -> Stray {
        Stray { tail: Arc::clone(self.stderr.tail()), server: Arc::clone(server) }
    }

    /// The last lines of its standard error and of what is stray, at most 200 and 16 KiB. Control characters and values of
    /// variables are replaced.
    pub(crate) fn stderr_tail(&self) -> String {
        self.stderr.tail().text()
    }

    /// Ends the child's input, `SIGTERM` to its group after `grace`, `SIGKILL` after another.
    /// Waits until nobody of the group is left, and at most a second longer than it takes to kill
    /// them: a process can be stuck in the kernel.
    ///
    /// Whoever closes it again waits for the same end, the first one's grace holds. Dropping the
    /// future stops nothing but the waiting.
    pub(crate) async fn close(&self, grace: Duration) {
        self.part(grace);
        self.life.over().await;
    }

    fn part(&self, grace: Duration) {
        self.stdin.close();
        self.life.part(grace);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.part(GRACE_OF_DROPPED);
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("exit", &self.exit()).finish_non_exhaustive()
    }
}

/// The child's ends, and ours of its input, output and standard error.
fn pipes() -> io::Result<(Streams, [OwnedFd; 3])> {
    let (stdin, to) = io::pipe()?;
    let (from, stdout) = io::pipe()?;
    let (log, stderr) = io::pipe()?;
    let stderr_keepalive = log.try_clone()?;
    Ok((Streams { stdin, stdout, stderr, stderr_keepalive }, [to.into(), from.into(), log.into()]))
}
