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

/// Limit on the pause between two polls.
const MAX_PAUSE: Duration = Duration::from_millis(50);

/// A group whose leader is our child. Its number is the leader's, which is not reused until the leader is
/// reaped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group(Pid);

impl Group {
    pub(super) fn led_by(leader: &process::Child) -> Self {
        Self(Pid::from_child(leader))
    }

    /// Signals the group. It fails if no process remains that this process may signal.
    pub(super) fn signal(self, signal: Signal) {
        let _ = kill_process_group(self.0, signal);
    }

    /// Waits for the leader without reaping it.
    pub(super) fn wait_for_leader(self) -> Exit {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        exit(retry_on_intr(|| waitid(WaitId::Pid(self.0), options)))
    }

    /// Reaps dead members of the group that became children of this process, which happens only in a subreaper. Called
    /// after the leader was reaped.
    pub(super) fn reap_adopted(self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        while let Ok(Some(_)) = waitid(WaitId::Pgid(Some(self.0)), options) {}
    }

    /// Waits until no living process of the group is left; `false` at `deadline`.
    pub(super) fn is_empty_by(self, deadline: Instant) -> bool {
        let mut pause = Duration::from_millis(1);
        while has_living(self.0) {
            let time_left = deadline.saturating_duration_since(Instant::now());
            if time_left.is_zero() {
                return false;
            }
            thread::sleep(pause.min(time_left));
            pause = MAX_PAUSE.min(pause * 2);
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
