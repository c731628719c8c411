//! The thread that starts a child, waits for it and clears up behind it.
//!
//! It is one thread per child and not one for all, because the kernel signals the death of a
//! parent when the *thread* that forked ends: this one ends after its child. So no start waits for
//! another one's slow `exec`, and nothing is shared between pools.

use super::command::Command;
use super::error::SpawnError;
use super::group::Group;
use super::lifecycle::{Life, STACK};
use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt as _;
use std::process;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// Grace period for descendants of a child that exited on its own.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// The child's ends of its standard streams.
pub(super) struct Streams {
    pub(super) stdin: PipeReader,
    pub(super) stdout: PipeWriter,
    pub(super) stderr: PipeWriter,
    /// Our end of `stderr` once more. A runtime that is lost takes its reader along, and a server
    /// that says good-bye must not die of a broken pipe then.
    pub(super) stderr_keepalive: PipeReader,
}

/// What becomes of a start.
pub(super) type Started = oneshot::Receiver<Result<(), SpawnError>>;

/// Starts the thread, which starts the child.
pub(super) fn start(
    command: Command,
    streams: Streams,
    life: Arc<Life>,
    counted: TaskTrackerToken,
) -> io::Result<Started> {
    let (tell, started) = oneshot::channel();
    let warden = Warden { life, child: None, _counted: counted };
    let thread = thread::Builder::new().name("mcp-server".to_owned()).stack_size(STACK);
    thread.spawn(move || warden.watch_over(command, streams, tell))?;
    Ok(started)
}

/// Ends the life in any case, and buries whom there is to reap.
struct Warden {
    life: Arc<Life>,
    child: Option<process::Child>,
    /// Until there is nobody to watch over.
    _counted: TaskTrackerToken,
}

impl Warden {
    fn watch_over(
        mut self,
        command: Command,
        streams: Streams,
        tell: oneshot::Sender<Result<(), SpawnError>>,
    ) {
        let _stderr_keepalive = streams.stderr_keepalive;
        let streams = [streams.stdin.into(), streams.stdout.into(), streams.stderr.into()];
        let group = match spawn(&command, streams) {
            Ok(child) => Group::led_by(self.child.insert(child)),
            Err(error) => {
                drop(self);
                // Whoever gave up does not listen.
                let _ = tell.send(Err(error));
                return;
            }
        };
        drop(command);
        self.life.begin(group);
        let _ = tell.send(Ok(()));
        self.life.clear(group, group.wait_for_leader(), ORPHAN_GRACE);
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Fails only if somebody else in this process has reaped it.
            let group = Group::led_by(&child);
            self.life.reap(|| {
                drop(child.wait());
                group.reap_adopted();
            });
        }
        self.life.end();
    }
}

fn spawn(
    command: &Command,
    [stdin, stdout, stderr]: [process::Stdio; 3],
) -> Result<process::Child, SpawnError> {
    let mut prepared = command.prepared()?;
    prepared.process_group(0).stdin(stdin).stdout(stdout).stderr(stderr);
    #[cfg(target_os = "linux")]
    super::death_signal::set(&mut prepared);
    // Our copies of the streams end with `prepared`: a child's input must end with our writer.
    prepared
        .spawn()
        .map_err(|source| SpawnError::System { program: command.program.clone(), source })
}
