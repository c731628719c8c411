//! Shell scripts as children.

use super::super::exit::Exit;
use super::super::stdin::Stdin;
use super::super::{Child, Command, Spawned};
use crate::time_limit::{LIMIT, in_time};
#[cfg(target_os = "linux")]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
#[cfg(target_os = "linux")]
use rustix::io::retry_on_intr;
use rustix::process::Pid;
#[cfg(not(target_os = "linux"))]
use rustix::process::test_kill_process;
#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, pidfd_open};
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
#[cfg(not(target_os = "linux"))]
use std::{thread, time::Instant};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::unix::pipe::Receiver;
use tokio_util::task::TaskTracker;
use tool_runtime_core::seam::Redactor;

/// Grace period beyond the time limit of a test.
pub(super) const UNREACHED_GRACE: Duration = Duration::from_secs(60 * 60);

/// Grace period that a test may wait for.
pub(super) const SHORT_GRACE: Duration = Duration::from_millis(100);

/// A background grandchild that ignores `SIGTERM` and the end of its input; prints its process id.
pub(super) const IGNORES_SIGTERM: &str =
    r#"sh -c 'trap "" TERM; echo $$; while :; do sleep 60; done' & "#;

/// A child that prints lines, and its streams.
pub(super) struct Server {
    pub(super) child: Child,
    pub(super) stdin: Stdin,
    pub(super) stdout: BufReader<Receiver>,
}

pub(super) fn script(text: &str) -> Command {
    let mut command = Command::new("sh");
    command.args = vec!["-c".to_owned(), text.to_owned()];
    command
}

/// Replaces `secret` by `name` in the output of a child.
pub(super) fn redactor(secrets: &[(&str, &str)]) -> Arc<Redactor> {
    let secrets = secrets.iter().map(|(name, secret)| ((*name).into(), (*secret).into()));
    Arc::new(Redactor::new(secrets))
}

pub(super) async fn start(command: &Command) -> Server {
    let spawned = Child::spawn(command, "test", TaskTracker::new().token());
    let spawned = in_time("the child to start", spawned).await;
    let Spawned { child, stdin, stdout } = spawned.unwrap_or_else(|error| panic!("{error}"));
    Server { child, stdin, stdout: BufReader::new(stdout) }
}

impl Server {
    pub(super) async fn run(text: &str) -> Self {
        start(&script(text)).await
    }

    pub(super) async fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line);
        in_time("the child to print a line", read).await.expect("UTF-8");
        line.trim_end().to_owned()
    }

    /// The process of an id on a separate line.
    pub(super) async fn process(&mut self) -> Process {
        Process::of(&self.line().await)
    }
}

/// The exit of a child on its own.
pub(super) async fn exited(child: &Child) -> Exit {
    in_time("the child to end", child.exited()).await
}

/// Closes a child.
pub(super) async fn closed(child: &Child, grace: Duration) {
    in_time("the child to be closed", child.close(grace)).await;
}

/// Closes a child that exits at `SIGTERM`, after any time.
pub(super) async fn closed_by_sigterm(child: &Child) {
    let closed = child.close_in_steps(SHORT_GRACE, UNREACHED_GRACE);
    in_time("the child to be closed", closed).await;
}

/// A process that ends, which is noticed without being its parent.
pub(super) struct Process {
    pid: Pid,
    /// `None` if it had exited before.
    #[cfg(target_os = "linux")]
    descriptor: Option<OwnedFd>,
}

impl Process {
    /// The running process of a printed id.
    pub(super) fn of(text: &str) -> Self {
        let number = text.trim().parse().unwrap_or_else(|_| panic!("{text:?} is not a number"));
        let pid = Pid::from_raw(number).expect("a process id");
        #[cfg(target_os = "linux")]
        let descriptor = pidfd_open(pid, PidfdFlags::empty()).ok();
        Self {
            pid,
            #[cfg(target_os = "linux")]
            descriptor,
        }
    }

    /// Whether it has exited; it may still be a zombie.
    pub(super) fn has_exited(&self) -> bool {
        self.exits_within(Duration::ZERO)
    }

    /// Waits for its exit.
    pub(super) fn assert_exits(&self) {
        assert!(self.exits_within(LIMIT), "{:?} has not exited", self.pid);
    }

    #[cfg(target_os = "linux")]
    fn exits_within(&self, limit: Duration) -> bool {
        let Some(descriptor) = &self.descriptor else { return true };
        let limit = Timespec::try_from(limit).expect("a short time");
        let mut looks = [PollFd::new(descriptor, PollFlags::IN)];
        retry_on_intr(|| poll(&mut looks, Some(&limit))).expect("it can be watched") > 0
    }

    /// Other systems reap orphans at once.
    #[cfg(not(target_os = "linux"))]
    fn exits_within(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while test_kill_process(self.pid).is_ok() {
            if Instant::now() >= end {
                return false;
            }
            thread::yield_now();
        }
        true
    }
}
