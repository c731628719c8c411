//! Shell scripts as children.

use super::super::exit::Exit;
use super::super::stdin::Stdin;
use super::super::{Child, Command, Spawned};
use crate::time_limit::in_time;
use rustix::process::{Pid, test_kill_process};
#[cfg(target_os = "linux")]
use std::env;
#[cfg(target_os = "linux")]
use std::process;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::unix::pipe::Receiver;
use tokio_util::task::TaskTracker;
use tool_runtime_core::seam::Redactor;

/// Generous limit that only a hanging test reaches.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Grace period beyond the time limit of a test.
pub(super) const UNREACHED_GRACE: Duration = Duration::from_secs(60);

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

/// Replaces `secret` by `shown` in the output of a child.
pub(super) fn redactor(secrets: &[(&str, &str)]) -> Arc<Redactor> {
    let secrets = secrets.iter().map(|(shown, secret)| ((*shown).into(), (*secret).into()));
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

    /// A process id, on a separate line.
    pub(super) async fn pid(&mut self) -> Pid {
        pid(&self.line().await)
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

pub(super) fn pid(text: &str) -> Pid {
    let number = text.trim().parse().unwrap_or_else(|_| panic!("{text:?} is not a number"));
    Pid::from_raw(number).expect("a process id")
}

/// Whether the process has exited; it may still be a zombie.
pub(super) fn has_exited(pid: Pid) -> bool {
    if test_kill_process(pid).is_err() {
        return true;
    }
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")))
}

/// Waits for the exit, with a time limit.
pub(super) fn assert_exits(pid: Pid) {
    let deadline = Instant::now() + TIME_LIMIT;
    while !has_exited(pid) {
        assert!(Instant::now() < deadline, "{pid:?} has not exited");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Runs `body` in a separate process that executes only the test `name`, relative to this folder. Returns the output
/// of that process; `None` in the process itself.
#[cfg(target_os = "linux")]
pub(super) fn in_own_process(name: &str, body: impl FnOnce()) -> Option<process::Output> {
    const CHILD_VARIABLE: &str = "TOOL_RUNTIME_TEST_ALONE";
    if env::var_os(CHILD_VARIABLE).is_some() {
        body();
        return None;
    }
    let mut command = process::Command::new(env::current_exe().expect("this test"));
    let (_crate, path) = module_path!().split_once("::").expect("a module");
    let path = path.replace("support", name);
    command.args(["--exact", "--nocapture", &path]).env(CHILD_VARIABLE, "1");
    Some(command.output().expect("the test process starts"))
}
