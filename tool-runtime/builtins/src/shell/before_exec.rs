//! Between `fork` and `exec`: ties a shell to this process and its descendants to the shell, lets keys interrupt them, and
//! limits what they use.

use super::params::CommandLimits;
use rustix::process::{
    Resource, Rlimit, Signal, getpid, getppid, getrlimit, set_child_subreaper,
    set_parent_process_death_signal, setrlimit,
};
use std::io;
use tokio::process::Command;

/// Sent to a shell when this process ends without having ended it. `SIGTERM` and not `SIGKILL`, so that a program that
/// replaced the shell can end its own children.
const SIGNAL: Signal = Signal::TERM;

/// Prepares a shell that [`start_on_thread`](crate::process::start_on_thread) starts.
pub(super) fn prepare(command: &mut Command, limits: &CommandLimits) {
    let tie = tie(limits);
    #[expect(unsafe_code, reason = "`std` has no safe way to run anything before `exec`")]
    // SAFETY: see `tie`.
    unsafe {
        command.pre_exec(tie);
    }
}

/// Prepares a shell at a terminal.
pub(super) fn prepare_terminal(
    command: pty_process::Command,
    limits: &CommandLimits,
) -> pty_process::Command {
    let tie = tie(limits);
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
fn tie(limits: &CommandLimits) -> impl FnMut() -> io::Result<()> + Send + Sync + 'static {
    let parent = Some(getpid());
    let limits = resources(limits);
    move || {
        for signal in OF_KEYS {
            #[expect(unsafe_code, reason = "no safe function sets what a signal does")]
            // SAFETY: the default action runs no code of this process.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
        for (resource, limit) in limits {
            setrlimit(resource, limit)?;
        }
        // Orphans become children of the shell, in whatever session they are.
        set_child_subreaper(parent)?;
        set_parent_process_death_signal(Some(SIGNAL))?;
        // The kernel does not signal the death of a parent that has ended before.
        if getppid() == parent { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    }
}

/// The limits of a command as the kernel takes them, none above those of this process.
fn resources(limits: &CommandLimits) -> [(Resource, Rlimit); 3] {
    let CommandLimits { processes, memory, file, stored_output: _ } = *limits;
    // The kernel counts those of the user, of which there are at most as many.
    let processes = match processes {
        0 => 0,
        more => more.saturating_add(tasks()),
    };
    [(Resource::Nproc, processes), (Resource::Data, memory), (Resource::Fsize, file)].map(
        |(resource, limit)| {
            let own = getrlimit(resource);
            let at_most = |own: Option<u64>| match limit {
                0 => own,
                limit => Some(own.map_or(limit, |own| own.min(limit))),
            };
            let maximum = at_most(own.maximum);
            (resource, Rlimit { current: at_most(own.current), maximum })
        },
    )
}

/// The processes and threads of the machine, from `/proc/loadavg`: `0.1 0.2 0.3 1/800 4711`.
fn tasks() -> u64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let tasks = text.split_whitespace().nth(3).and_then(|tasks| tasks.split_once('/'));
    tasks.and_then(|(_, all)| all.parse().ok()).unwrap_or_default()
}
