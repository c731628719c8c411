//! The thread that starts a child, waits for it and ends its descendants.
//!
//! Each child has its own thread, because the kernel signals the death of a parent when the *thread* that forked ends:
//! this one ends after its child. A slow `exec` does not delay other starts.

use super::command::Command;
use super::error::SpawnError;
use super::exit::ORPHAN_GRACE;
use super::group::Group;
use super::lifecycle::{Lifecycle, STACK};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process;
use std::sync::Arc;
use std::thread;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::oneshot;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tool_runtime_core::vocabulary::BoxFuture;

/// A child's standard output.
pub(crate) type Stdout = Receiver;

/// A child that is being started, with our ends of its streams.
pub(super) struct Started {
    pub(super) lifecycle: Arc<Lifecycle>,
    pub(super) stdin: Sender,
    pub(super) stdout: Stdout,
    pub(super) stderr: Receiver,
    pub(super) outcome: BoxFuture<'static, Result<(), SpawnError>>,
}

/// Starts a child on a new thread.
pub(super) fn start(command: &Command, counted: TaskTrackerToken) -> Result<Started, SpawnError> {
    let program = command.program.clone();
    let failed = move |source| SpawnError::System { program: program.clone(), source };
    let (streams, [stdin, stdout, stderr]) = pipes().map_err(&failed)?;
    let stdin = Sender::from_owned_fd(stdin).map_err(&failed)?;
    let stdout = Receiver::from_owned_fd(stdout).map_err(&failed)?;
    let stderr = Receiver::from_owned_fd(stderr).map_err(&failed)?;
    let lifecycle = Lifecycle::new();
    let (sender, outcome) = oneshot::channel();
    let monitor =
        ChildMonitor { lifecycle: Arc::clone(&lifecycle), child: None, _counted: counted };
    let thread = thread::Builder::new().name("mcp-server".to_owned()).stack_size(STACK);
    let command = command.clone();
    thread.spawn(move || monitor.run(command, streams, sender)).map_err(&failed)?;
    // A thread that panicked sends nothing.
    let outcome = Box::pin(async move {
        outcome.await.unwrap_or_else(|_| Err(failed(io::ErrorKind::Other.into())))
    });
    Ok(Started { lifecycle, stdin, stdout, stderr, outcome })
}

/// The child's ends of its standard streams.
struct Streams {
    stdin: PipeReader,
    stdout: PipeWriter,
    stderr: PipeWriter,
    /// A copy of our end of `stderr`: when a runtime is lost with its reader, a server that logs its
    /// shutdown must not fail with a broken pipe.
    stderr_keepalive: PipeReader,
}

/// The child's ends, and ours of its input, output and standard error.
fn pipes() -> io::Result<(Streams, [OwnedFd; 3])> {
    let (stdin, to) = io::pipe()?;
    let (from, stdout) = io::pipe()?;
    let (log, stderr) = io::pipe()?;
    let stderr_keepalive = log.try_clone()?;
    Ok((Streams { stdin, stdout, stderr, stderr_keepalive }, [to.into(), from.into(), log.into()]))
}

/// Reaps the child when dropped, and ends the lifecycle in any case.
struct ChildMonitor {
    lifecycle: Arc<Lifecycle>,
    child: Option<process::Child>,
    /// Dropped when no descendant is left.
    _counted: TaskTrackerToken,
}

impl ChildMonitor {
    fn run(
        mut self,
        command: Command,
        streams: Streams,
        outcome: oneshot::Sender<Result<(), SpawnError>>,
    ) {
        let _stderr_keepalive = streams.stderr_keepalive;
        let streams = [streams.stdin.into(), streams.stdout.into(), streams.stderr.into()];
        let group = match spawn(&command, streams) {
            Ok(child) => Group::led_by(self.child.insert(child)),
            Err(error) => {
                drop(self);
                // The receiver may have been dropped.
                let _ = outcome.send(Err(error));
                return;
            }
        };
        drop(command);
        self.lifecycle.begin(group);
        let _ = outcome.send(Ok(()));
        self.lifecycle.end_descendants(group, group.wait_for_leader(), ORPHAN_GRACE);
    }
}

impl Drop for ChildMonitor {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let group = Group::led_by(&child);
            self.lifecycle.reap(|| {
                // Fails only if other code of this process has reaped the child.
                drop(child.wait());
                group.reap_adopted();
            });
        }
        self.lifecycle.end();
    }
}

fn spawn(
    command: &Command,
    [stdin, stdout, stderr]: [process::Stdio; 3],
) -> Result<process::Child, SpawnError> {
    let mut prepared = command.to_std()?;
    prepared.process_group(0).stdin(stdin).stdout(stdout).stderr(stderr);
    #[cfg(target_os = "linux")]
    super::death_signal::set(&mut prepared);
    // `prepared` holds copies of the child's streams until here: its input must end with our writer.
    prepared
        .spawn()
        .map_err(|source| SpawnError::System { program: command.program.clone(), source })
}
