//! Ends a child when this process is killed.

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// `SIGTERM` and not `SIGKILL`: `npx`, `uvx` and `docker` pass it on to the server that they run, and servers end their
/// own children, such as browsers. If they were killed, they would leave orphans. The signal also comes when our
/// process ends without having closed its servers.
const SIGNAL: Signal = Signal::TERM;

/// Makes the kernel signal the child that `command` starts when the calling *thread* ends: the thread
/// must outlive the child.
///
/// Existing crates send `SIGKILL`, or do not check for a parent that has ended before.
pub(super) fn set(command: &mut Command) {
    let parent = Some(getpid());
    let before_exec = move || {
        set_parent_process_death_signal(Some(SIGNAL))?;
        // The kernel does not signal the death of a parent that has ended before.
        if getppid() == parent { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    };
    #[expect(unsafe_code, reason = "`std` has no safe way to run anything before `exec`")]
    // SAFETY: between `fork` and `exec` of a process with threads only async-signal-safe functions
    // may be called. These are two bare system calls; nothing is allocated and no lock is taken.
    unsafe {
        command.pre_exec(before_exec);
    }
}
