//! A child's process group.

use super::exit::Exit;
use super::group_alive::has_living;
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
use std::process;
use std::thread;
use std::time::{Duration, Instant};

/// The longest pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// A group whose leader is our child. Its number is the leader's: until the leader is reaped,
/// nobody else can have it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group(Pid);

impl Group {
    pub(super) fn led_by(leader: &process::Child) -> Self {
        Self(Pid::from_child(leader))
    }

    /// Fails only if nobody is left, or nobody who is ours to signal.
    pub(super) fn signal(self, signal: Signal) {
        let _ = kill_process_group(self.0, signal);
    }

    /// Waits for the leader, but leaves it to be reaped.
    pub(super) fn wait_for_leader(self) -> Exit {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        exit(retry_on_intr(|| waitid(WaitId::Pid(self.0), options)))
    }

    /// Takes dead members that became our own children out of the table of processes, after the leader
    /// was: only a subreaper has any.
    pub(super) fn reap_adopted(self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        while let Ok(Some(_)) = waitid(WaitId::Pgid(Some(self.0)), options) {}
    }

    /// Whether nobody of the group, whose leader has exited, is left at some time up to `deadline`.
    pub(super) fn is_empty_by(self, deadline: Instant) -> bool {
        let mut pause = Duration::from_millis(1);
        while has_living(self.0) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            thread::sleep(pause.min(left));
            pause = PAUSE.min(pause * 2);
        }
        true
    }
}

fn exit(waited: Result<Option<WaitIdStatus>, Errno>) -> Exit {
    let status = waited.ok().flatten();
    let code = status.and_then(|status| status.exit_status()).map(Exit::Code);
    let signal = status.and_then(|status| status.terminating_signal()).map(Exit::Signal);
    code.or(signal).unwrap_or(Exit::Unknown)
}
