//! A part of the play, and the process that plays it at present.

use crate::Failure;
use std::env;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Hub,
    Runner,
    Caller,
}

/// The points at which a process of each kind crashes.
pub(super) const POINTS: &[(Kind, &str)] = &[
    (Kind::Caller, "before-submit"),
    (Kind::Caller, "after-submit"),
    (Kind::Runner, "after-claim"),
    (Kind::Runner, "after-started"),
    (Kind::Runner, "before-done"),
    (Kind::Runner, "after-done"),
    (Kind::Hub, "after-swap"),
    (Kind::Hub, "after-hand-out"),
];

/// For how long a process of each kind is stopped, in seconds: for an instant, for less than a lease, and for more.
pub(super) const STOPS: &[(Kind, u64)] = &[
    (Kind::Runner, 20),
    (Kind::Runner, 5),
    (Kind::Runner, 1),
    (Kind::Caller, 20),
    (Kind::Caller, 5),
    (Kind::Caller, 1),
    (Kind::Hub, 20),
    (Kind::Hub, 5),
    (Kind::Hub, 1),
];

pub(super) struct Part {
    pub(super) kind: Kind,
    arguments: Vec<String>,
    process: Option<Process>,
    /// When it is replaced, if it has ended too early.
    pub(super) restart_at: Instant,
    /// It has ended, and is not replaced.
    pub(super) is_done: bool,
}

struct Process {
    child: Child,
    pid: u32,
    /// Where it is to crash.
    point: Option<&'static str>,
    is_killed: bool,
    /// Until when it is stopped.
    stopped_until: Option<Instant>,
}

impl Part {
    pub(super) fn new(kind: Kind, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let restart_at = Instant::now();
        Self { kind, arguments, process: None, restart_at, is_done: false }
    }

    /// Starts its process.
    pub(super) fn spawn(&mut self, point: Option<&'static str>) -> Result<(), Failure> {
        let mut command = Command::new(env::current_exe()?);
        command.args(&self.arguments).stdin(Stdio::piped()).kill_on_drop(true);
        if let Some(point) = point {
            command.env("TOOL_REMOTE_CRASH_AT", point);
        }
        let child = command.spawn()?;
        let pid = child.id().ok_or("a process has ended before it began")?;
        self.process = Some(Process { child, pid, point, is_killed: false, stopped_until: None });
        Ok(())
    }

    /// The process that has ended too early, if it has, which was meant to be.
    ///
    /// # Errors
    /// It has ended for another reason.
    pub(super) fn reap(&mut self) -> Result<Option<u32>, Failure> {
        let Some(process) = &mut self.process else { return Ok(None) };
        let Some(status) = process.child.try_wait()? else { return Ok(None) };
        if process.is_killed || process.point.is_some() && is_crash(status) {
            let pid = process.pid;
            self.process = None;
            return Ok(Some(pid));
        }
        if status.success() && self.kind == Kind::Caller {
            self.is_done = true;
            return Ok(None);
        }
        Err(format!("`{}` ended with {status}", self.arguments.join(" ")).into())
    }

    pub(super) fn is_running(&self) -> bool {
        self.process.is_some()
    }

    pub(super) fn is_due(&self) -> bool {
        !self.is_running() && Instant::now() >= self.restart_at
    }

    /// The point at which it is to crash.
    pub(super) fn point(&self) -> Option<&'static str> {
        self.process.as_ref()?.point
    }

    /// Whether it neither crashes by itself nor was killed nor is stopped.
    pub(super) fn is_free(&self) -> bool {
        let is_free = |process: &Process| {
            process.point.is_none() && !process.is_killed && process.stopped_until.is_none()
        };
        !self.is_done && self.process.as_ref().is_some_and(is_free)
    }

    pub(super) fn kill(&mut self) {
        if let Some(process) = &mut self.process {
            // It may have ended just now: then it has no effect, and the end is looked at.
            process.is_killed = process.child.start_kill().is_ok();
        }
    }

    /// Stops its process for a while. Returns its id.
    ///
    /// # Errors
    /// The system does not.
    pub(super) fn stop(&mut self, time: Duration) -> Result<Option<u32>, Failure> {
        let Some(process) = &mut self.process else { return Ok(None) };
        signal(process.pid, Stop::Begins)?;
        process.stopped_until = Some(Instant::now() + time);
        Ok(Some(process.pid))
    }

    /// Lets its process go on, if its time is over.
    ///
    /// # Errors
    /// The system does not.
    pub(super) fn go_on(&mut self) -> Result<(), Failure> {
        let Some(process) = &mut self.process else { return Ok(()) };
        if process.stopped_until.is_some_and(|until| Instant::now() >= until) {
            signal(process.pid, Stop::Ends)?;
            process.stopped_until = None;
        }
        Ok(())
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.stopped_until.is_some())
    }

    /// Lets it end in order, and waits for that.
    ///
    /// # Errors
    /// It fails.
    pub(super) async fn end(mut self) -> Result<(), Failure> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        // Closes its standard input first.
        let status = process.child.wait().await?;
        if status.success() {
            return Ok(());
        }
        Err(format!("`{}` ended with {status}", self.arguments.join(" ")).into())
    }
}

/// Neither an error nor a panic.
fn is_crash(status: ExitStatus) -> bool {
    !matches!(status.code(), Some(0 | 1 | 101))
}

/// What happens to a process that does not end by it.
#[derive(Clone, Copy, Debug)]
enum Stop {
    Begins,
    Ends,
}

/// The process has not been waited for, so its id is its own.
#[cfg(unix)]
fn signal(pid: u32, stop: Stop) -> Result<(), Failure> {
    use rustix::process::{Pid, Signal, kill_process};
    let signal = match stop {
        Stop::Begins => Signal::STOP,
        Stop::Ends => Signal::CONT,
    };
    let pid = Pid::from_raw(i32::try_from(pid)?).ok_or("a process has no id")?;
    Ok(kill_process(pid, signal)?)
}

#[cfg(not(unix))]
fn signal(_: u32, _: Stop) -> Result<(), Failure> {
    Ok(())
}
