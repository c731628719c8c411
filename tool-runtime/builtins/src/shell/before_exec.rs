//! Between `fork` and `exec`: ties a shell to this process and its descendants to the shell, and lets keys interrupt them.

use rustix::process::{
    Signal, getpid, getppid, set_child_subreaper, set_parent_process_death_signal,
};
use std::io;
use tokio::process::Command;

/// Sent to a shell when this process ends without having ended it. `SIGTERM` and not `SIGKILL`, so that a program that
/// took the place of the shell can end its own children.
const SIGNAL: Signal = Signal::TERM;

/// Prepares a shell that [`Launcher::start_on_thread`](super::spawn::Launcher::start_on_thread) starts.
pub(super) fn prepare(command: &mut Command) {
    let tie = tie();
    #[expect(unsafe_code, reason = "`std` has no safe way to run anything before `exec`")]
    // SAFETY: see `tie`.
    unsafe {
        command.pre_exec(tie);
    }
}

/// Prepares a shell at a terminal.
pub(super) fn prepare_terminal(command: pty_process::Command) -> pty_process::Command {
    let tie = tie();
    #[expect(unsafe_code, reason = "`std` has no safe way to run anything before `exec`")]
    // SAFETY: see `tie`.
    unsafe {
        command.pre_exec(tie)
    }
}

/// Signals of the keys `C-c`, `C-\` and `C-z`. A program that was started in the background by a script ignores the first
/// two, and so would everything that it starts.
const OF_KEYS: [i32; 3] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP];

/// Between `fork` and `exec` of a process with threads only async-signal-safe functions may be called: these are bare
/// system calls; nothing is allocated and no lock is taken.
fn tie() -> impl FnMut() -> io::Result<()> + Send + Sync + 'static {
    let parent = Some(getpid());
    move || {
        for signal in OF_KEYS {
            #[expect(unsafe_code, reason = "no safe function sets what a signal does")]
            // SAFETY: the default action runs no code of this process.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
        // Orphans become children of the shell, in whatever session they are.
        set_child_subreaper(parent)?;
        set_parent_process_death_signal(Some(SIGNAL))?;
        // The kernel does not signal the death of a parent that has ended before.
        if getppid() == parent { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    }
}
