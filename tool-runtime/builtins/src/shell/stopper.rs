//! Stops the command of a terminal whose call was dropped.

use rustix::process::{Pid, Signal, kill_process_group};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(250);
/// Attempts, the first of them gentle.
const ATTEMPTS: usize = 20;
const GENTLE: usize = 2;

/// Stops a command of the terminal; the shell stays.
pub(super) struct Stopper {
    pub(super) terminal: Arc<OwnedFd>,
    /// The process group of the shell itself.
    pub(super) shell: Option<Pid>,
    /// Whether the command has ended.
    pub(super) has_ended: Box<dyn Fn() -> bool + Send + Sync>,
    /// Held until the stop is over. A signal that reaches the shell while it reads the next command would take
    /// away what it has read of it.
    pub(super) _stopping: OwnedMutexGuard<()>,
}

impl Stopper {
    async fn stop(self) {
        for attempt in 0..ATTEMPTS {
            self.signal(attempt < GENTLE);
            tokio::time::sleep(PAUSE).await;
            if (self.has_ended)() {
                return;
            }
        }
        tracing::warn!("a command of a terminal could not be stopped");
    }

    /// Interrupts the shell, so that it does not run the next command, and the group in the foreground.
    fn signal(&self, is_gentle: bool) {
        let foreground = rustix::termios::tcgetpgrp(&self.terminal).ok();
        if let Some(group) = foreground.filter(|group| Some(*group) != self.shell) {
            // Fails only for a group that has just ended.
            let _ = kill_process_group(group, if is_gentle { Signal::INT } else { Signal::KILL });
        }
        if let Some(shell) = self.shell {
            let _ = kill_process_group(shell, Signal::INT);
        }
    }
}

/// Stops the command of a call that was dropped.
pub(super) struct StopOnDrop(pub(super) Option<Stopper>);

impl StopOnDrop {
    /// The call was not dropped.
    pub(super) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if let (Some(stopper), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(stopper.stop());
        }
    }
}
