//! A child process in a job object of Windows.

use super::command::Command;
use super::error::SpawnError;
use super::exit::{Exit, ExitWatch, ORPHAN_GRACE};
use process_wrap::tokio::{ChildWrapper, CommandWrap, JobObject, KillOnDrop};
use std::future::ready;
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tool_runtime_core::vocabulary::BoxFuture;

/// A child's standard output.
pub(crate) type Stdout = ChildStdout;

/// A started child with our ends of its streams.
pub(super) struct Started {
    pub(super) lifecycle: Arc<Lifecycle>,
    pub(super) stdin: ChildStdin,
    pub(super) stdout: Stdout,
    pub(super) stderr: ChildStderr,
    pub(super) outcome: BoxFuture<'static, Result<(), SpawnError>>,
}

/// Starts a child. Windows kills the processes of its job when this process or the runtime ends.
pub(super) fn start(command: &Command, counted: TaskTrackerToken) -> Result<Started, SpawnError> {
    let failed = |source| SpawnError::System { program: command.program.clone(), source };
    let mut prepared = CommandWrap::from(tokio::process::Command::from(command.to_std()?));
    prepared.command_mut().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = prepared.wrap(KillOnDrop).wrap(JobObject).spawn().map_err(failed)?;
    let streams = (child.stdin().take(), child.stdout().take(), child.stderr().take());
    let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
        return Err(failed(io::ErrorKind::Other.into()));
    };
    let lifecycle = Arc::new(Lifecycle::default());
    let monitored = Arc::clone(&lifecycle);
    tokio::spawn(async move {
        let _over = EndOnDrop(&monitored);
        monitored.run(child).await;
        drop(counted);
    });
    Ok(Started { lifecycle, stdin, stdout, stderr, outcome: Box::pin(ready(Ok(()))) })
}

/// A child's lifecycle.
#[derive(Debug, Default)]
pub(super) struct Lifecycle {
    pub(super) exit: ExitWatch,
    /// Grace period of the shutdown, once it has begun.
    grace: watch::Sender<Option<Duration>>,
}

impl Lifecycle {
    /// Kills the job after `grace`. The child's input has ended. Only the first call counts.
    pub(super) fn begin_shutdown(&self, grace: Duration) {
        self.grace.send_if_modified(|first| first.replace(first.unwrap_or(grace)).is_none());
    }

    /// Waits for the child and its job, and kills them after their grace.
    async fn run(&self, mut child: Box<dyn ChildWrapper>) {
        let status = tokio::select! {
            status = child.inner_mut().wait() => status,
            () = self.is_late() => {
                // Fails only for a job that has ended.
                let _ = child.start_kill();
                child.inner_mut().wait().await
            }
        };
        let code = status.ok().and_then(|status| status.code());
        let exit = code.map_or(Exit::Unknown, Exit::Code);
        self.exit.set_exit(exit);
        let is_empty = timeout(ORPHAN_GRACE, child.wait()).await.is_ok();
        if !is_empty {
            let _ = child.start_kill();
        }
    }

    /// Waits until the grace period of a shutdown has passed.
    async fn is_late(&self) {
        let mut grace = self.grace.subscribe();
        let grace = grace.wait_for(Option::is_some).await.ok().and_then(|grace| *grace);
        tokio::time::sleep(grace.unwrap_or_default()).await;
    }
}

/// Ends a lifecycle when dropped: by its task, or by a runtime that drops the task.
struct EndOnDrop<'a>(&'a Lifecycle);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.exit.set_over();
    }
}
