//! Runs other programs to their end, and signals them.

use crate::built::scratch;
use rustix::io::Errno;
pub use rustix::process::Signal;
use rustix::process::{Pid, WaitId, WaitIdOptions, kill_process, waitid};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The exit and the output of a program.
#[derive(Debug)]
pub struct Ended {
    /// `None` after a timeout.
    pub status: Option<ExitStatus>,
    /// Standard output and standard error.
    pub output: String,
}

impl Ended {
    /// Whether it exited with success.
    pub fn is_success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// Description of the exit for error messages.
    pub fn described(&self) -> String {
        match self.status {
            Some(status) => format!("ended with {status}:\n{}", self.output),
            None => format!("did not end in time:\n{}", self.output),
        }
    }
}

/// Runs a command to its end or to `limit`, whichever comes first. Its output goes through a
/// file, since a pipe would stay open for as long as any descendant lives.
///
/// # Errors
/// The command cannot be started.
pub fn run(command: &mut Command, limit: Duration) -> io::Result<Ended> {
    let path = log_path();
    let log = File::create(&path)?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .inspect_err(|_| drop(fs::remove_file(&path)))?;
    let status = wait(&mut child, limit)?;
    let output = fs::read(&path)?;
    fs::remove_file(&path)?;
    Ok(Ended { status, output: String::from_utf8_lossy(&output).into_owned() })
}

/// A separate file for each run of each process.
fn log_path() -> PathBuf {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    scratch().join(format!("run-{}-{run}.log", std::process::id()))
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// A command whose process `SIGINT` ends, as do its own, also if this process ignores the signal: a script starts its
/// jobs in the background so.
pub fn interruptible(program: &Path) -> Command {
    // The others are those that Python itself ignores.
    let reset = "import os, signal, sys
for one in signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ:
    signal.signal(one, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])";
    let mut command = Command::new("python3");
    command.args(["-c", reset]).arg(program);
    command
}

/// Sends a signal to a child, unless it was waited for.
///
/// # Panics
/// The id is not that of a process that may be signalled.
pub fn signal(child: u32, signal: Signal) {
    let sent = kill_process(pid(child), signal);
    assert!(matches!(sent, Ok(()) | Err(Errno::SRCH)), "{signal:?} to {child}: {sent:?}");
}

/// Stops a child, and waits until it is stopped. It handles further signals together when `CONT` lets it go on.
///
/// # Panics
/// The process is not a child, or has exited.
pub fn stop(child: u32) {
    signal(child, Signal::STOP);
    let stopped = waitid(WaitId::Pid(pid(child)), WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT);
    assert!(matches!(stopped, Ok(Some(_))), "{child}: {stopped:?}");
}

/// Whether a child of this process runs, or has exited and was not waited for.
///
/// The kernel answers for children only: another process that got the id later is none.
///
/// # Panics
/// The id is none.
pub fn is_child(id: u32) -> bool {
    // The exit is left to the one that waits for it.
    let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(pid(id)), peek), Err(Errno::CHILD))
}

fn pid(id: u32) -> Pid {
    i32::try_from(id).ok().and_then(Pid::from_raw).expect("the id of a process")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_one_until_it_was_waited_for() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("it starts");
        let id = child.id();
        assert!(is_child(id), "it runs");
        stop(id);
        assert!(is_child(id), "it is stopped");
        signal(id, Signal::KILL);
        assert!(is_child(id), "its exit is not known");
        assert!(!child.wait().expect("it ends").success());
        assert!(!is_child(id));
        signal(id, Signal::KILL);
    }
}
