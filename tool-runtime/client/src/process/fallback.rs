//! A child process on systems without process groups and signals.

use super::command::Command;
use super::error::SpawnError;
use super::exit::Exit;
use super::stderr::Stderr;
use super::stdin::{Closer, Stdin};
use super::stdout_noise::Stray;
use std::fmt;
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::ChildStdout;
use tokio::sync::watch;
use tokio::time;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// A child that has been started, and its streams.
pub(crate) struct Spawned {
    /// Terminates the child when it is dropped.
    pub(crate) child: Child,
    /// What the child reads. Dropping it ends the child's input, and so does closing the child.
    pub(crate) stdin: Stdin,
    /// What the child prints.
    pub(crate) stdout: ChildStdout,
}

/// A child process, without what it started. Dropping it terminates it, and so does losing the
/// runtime.
pub(crate) struct Child {
    exit: watch::Receiver<Option<Exit>>,
    end: CancellationToken,
    stdin: Closer,
    stderr: Stderr,
}

impl Child {
    /// Starts a child. `server` is its name in the log, where every line of its standard error
    /// goes at debug level (`tool_runtime::mcp::server_stderr`). It is counted until it has ended.
    ///
    /// # Errors
    /// The program is not found, or the system does not start it.
    pub(crate) async fn spawn(
        command: &Command,
        server: &str,
        counted: TaskTrackerToken,
    ) -> Result<Spawned, SpawnError> {
        let failed = |source| SpawnError::System { program: command.program.clone(), source };
        let mut prepared = tokio::process::Command::from(command.prepared()?);
        prepared.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = prepared.kill_on_drop(true).spawn().map_err(failed)?;
        let streams = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(to), Some(stdout), Some(log)) = streams else {
            return Err(failed(io::ErrorKind::Other.into()));
        };
        let (stdin, closer) = Stdin::over(to);
        let (tell, exit) = watch::channel(None);
        let end = CancellationToken::new();
        let mut over = exit.clone();
        let stderr = Stderr::drain(log, command, server, async move {
            let _ = over.wait_for(Option::is_some).await;
        });
        let waiting = wait(process, end.clone(), tell);
        tokio::spawn(async move {
            waiting.await;
            drop(counted);
        });
        Ok(Spawned { child: Self { exit, end, stdin: closer, stderr }, stdin, stdout })
    }

    /// How the child ended, if it has.
    pub(crate) fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Waits until the child has ended, by itself or not, and for what it had to say: after this
    /// [`Child::stderr_tail`] has its last words.
    pub(crate) async fn exited(&self) -> Exit {
        // Without its task the child has been terminated.
        let exit = self.exit.clone().wait_for(Option::is_some).await.map(|exit| *exit);
        self.stderr.drained().await;
        exit.ok().flatten().unwrap_or(Exit::Unknown)
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

    /// Ends the child's input and terminates it after `grace`. Waits until it is gone.
    pub(crate) async fn close(&self, grace: Duration) {
        self.stdin.close();
        if time::timeout(grace, self.exited()).await.is_err() {
            self.end.cancel();
            self.exited().await;
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.stdin.close();
        self.end.cancel();
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("exit", &self.exit()).finish_non_exhaustive()
    }
}

/// Waits for the child, or terminates it.
async fn wait(
    mut process: tokio::process::Child,
    end: CancellationToken,
    tell: watch::Sender<Option<Exit>>,
) {
    let status = tokio::select! {
        status = process.wait() => status,
        () = end.cancelled() => {
            // Fails only for a child that has ended.
            let _ = process.start_kill();
            process.wait().await
        }
    };
    let code = status.ok().and_then(|status| status.code());
    tell.send_replace(Some(code.map_or(Exit::Unknown, Exit::Code)));
}
