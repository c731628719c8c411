//! A part of the play, and the process that plays it at present.

use super::proxy::Proxy;
use crate::Failure;
use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The hub or the NATS server.
    Engine,
    /// The keeper of a NATS server.
    Keeper,
    Runner,
    Caller,
}

pub(super) struct Part {
    pub(super) kind: Kind,
    program: PathBuf,
    arguments: Vec<OsString>,
    /// The file of what it says, if it is another program.
    log: Option<PathBuf>,
    /// The difference of its clock, as `faketime` writes it.
    pub(super) clock: Option<Clock>,
    /// Its connection to the engine.
    pub(super) proxy: Option<Proxy>,
    process: Option<Process>,
    /// When it is replaced, if it has ended too early.
    pub(super) restart_at: Instant,
    /// It has ended, and is not replaced.
    pub(super) is_done: bool,
}

/// A clock that goes wrong.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// The library of `faketime`.
    pub(super) library: PathBuf,
    pub(super) offset: &'static str,
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
    /// A part that this program plays.
    pub(super) fn new<A: Into<OsString>>(
        kind: Kind,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            kind,
            program: env::current_exe()?,
            arguments: arguments.into_iter().map(Into::into).collect(),
            log: None,
            clock: None,
            proxy: None,
            process: None,
            restart_at: Instant::now(),
            is_done: false,
        })
    }

    /// A part that another program plays.
    pub(super) fn played_by(mut self, program: impl Into<PathBuf>, log: &Path) -> Self {
        (self.program, self.log) = (program.into(), Some(log.to_owned()));
        self
    }

    /// A part that reaches the engine through a proxy, if there is one.
    pub(super) fn behind(mut self, proxy: Option<Proxy>) -> Self {
        self.proxy = proxy;
        self
    }

    /// Starts its process.
    pub(super) fn spawn(&mut self, point: Option<&'static str>) -> Result<(), Failure> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::piped()).kill_on_drop(true);
        if let Some(log) = &self.log {
            command.stderr(File::options().append(true).create(true).open(log)?);
        }
        if let Some(Clock { library, offset }) = &self.clock {
            command.env("LD_PRELOAD", library).env("FAKETIME", offset);
            command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
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
        Err(self.ended(status))
    }

    fn ended(&self, status: ExitStatus) -> Failure {
        let (program, arguments) = (self.program.display(), self.arguments.join(" ".as_ref()));
        format!("`{program} {}` ended with {status}", arguments.display()).into()
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

    /// Whether it runs, and neither was killed nor is stopped nor cut off.
    pub(super) fn is_free(&self) -> bool {
        let is_free = |process: &Process| !process.is_killed && process.stopped_until.is_none();
        !self.is_done && !self.is_cut_off() && self.process.as_ref().is_some_and(is_free)
    }

    /// Whether it is free, and does not crash by itself.
    pub(super) fn may_be_killed(&self) -> bool {
        self.is_free() && self.point().is_none()
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

    pub(super) fn is_cut_off(&self) -> bool {
        self.proxy.as_ref().is_some_and(Proxy::is_stalled)
    }

    /// The id of its process.
    pub(super) fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.pid)
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
        if self.log.is_some() {
            // It does not look at its standard input.
            return Ok(process.child.kill().await?);
        }
        // Closes its standard input first.
        let status = process.child.wait().await?;
        if status.success() { Ok(()) } else { Err(self.ended(status)) }
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
