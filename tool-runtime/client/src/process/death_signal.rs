//! Ends a child when this process is killed.

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// `SIGTERM` and not `SIGKILL`: it comes together with the end of the input, also when our
/// process merely ends without having closed its servers. `npx`, `uvx` and `docker` hand it on to
/// the server that they stand for, and servers take along what they started, browsers say. Killed,
/// they all would leave that behind.
const SIGNAL: Signal = Signal::TERM;

/// Makes the kernel signal the child that `command` starts when the calling *thread* ends: it has
/// to stay until the child is gone.
///
/// Not a crate's work: those that do it have no check for a parent that is gone before, or kill.
pub(super) fn set(command: &mut Command) {
    let parent = Some(getpid());
    let at_birth = move || {
        set_parent_process_death_signal(Some(SIGNAL))?;
        // Nobody signals the death of a parent that was gone before.
        if getppid() == parent { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    };
    #[expect(unsafe_code, reason = "`std` has no safe way to run anything before `exec`")]
    // SAFETY: between `fork` and `exec` of a process with threads only async-signal-safe functions
    // may be called. These are two bare system calls; nothing is allocated and no lock is taken.
    unsafe {
        command.pre_exec(at_birth);
    }
}
