//! Children whose host is killed, and resources of the host after its children have exited.

use super::super::{Child, Command};
use super::own_process::{run_alone, value_of_own_process};
use super::support::{IGNORES_SIGTERM, SHORT_GRACE, Server, closed};
use crate::time_limit::{LIMIT, in_time};
use rustix::process::{Signal, getpid, kill_process};
use std::env;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process;
use std::sync::mpsc;
use std::thread;
use tokio::io::AsyncWriteExt as _;
use tokio::runtime::Runtime;
use tokio_util::task::TaskTracker;

/// A child and a grandchild that outlive each other: the child ignores the end of its input, the
/// grandchild waits only for that. Both hold the pipe `PIPE` open.
const INDEPENDENT_PAIR: &str = "exec 9>'PIPE'; { echo begun; exec cat <&3 >/dev/null; } 3<&0 & \
                                echo begun; exec sleep 600";

#[test]
fn children_of_a_killed_host_exit() {
    if let Some(pipe) = value_of_own_process() {
        kill_own_process_with_a_pair(&pipe);
    }
    let pipe = env::temp_dir().join(format!("tool-runtime-pair-{}", process::id()));
    let status = process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(status.success());
    let (sender, ended) = mpsc::channel();
    let path = pipe.clone();
    // It is at its end when nobody holds it open.
    thread::spawn(move || sender.send(fs::read(path)));
    let test = "killed_host::children_of_a_killed_host_exit";
    let host = run_alone(test, pipe.to_str().expect("UTF-8"));
    assert_eq!(host.status.signal(), Some(9), "{host:?}");
    let ended = ended.recv_timeout(LIMIT);
    fs::remove_file(pipe).expect("it is there");
    assert!(ended.expect("both end").expect("a pipe").is_empty());
}

fn kill_own_process_with_a_pair(pipe: &str) -> ! {
    let runtime = Runtime::new().expect("a runtime");
    let mut server = runtime.block_on(Server::run(&INDEPENDENT_PAIR.replace("PIPE", pipe)));
    for _ in 0..2 {
        assert_eq!(runtime.block_on(server.line()), "begun");
    }
    kill_process(getpid(), Signal::KILL).expect("it is ours");
    unreachable!("this process was killed");
}

/// For the kernel's parent-death signal, the parent is the thread that forked.
#[tokio::test]
async fn a_child_outlives_the_thread_that_requested_it() {
    let runtime = tokio::runtime::Handle::current();
    let started = thread::spawn(move || runtime.block_on(Server::run("exec cat")));
    let mut server = tokio::task::spawn_blocking(|| started.join()).await.expect("it runs");
    let server = server.as_mut().expect("it is started");
    server.stdin.write_all(b"there\n").await.expect("it reads");
    assert_eq!(server.line().await, "there");
    assert_eq!(server.child.exit(), None);
}

#[test]
fn many_children_leave_no_process() {
    if value_of_own_process().is_none() {
        let host = run_alone("killed_host::many_children_leave_no_process", "");
        assert!(String::from_utf8_lossy(&host.stdout).contains("1 passed"), "{host:?}");
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        // Starts the clock of time limits, which has a thread.
        in_time("nothing", async {}).await;
        let before = resources();
        for number in 0..100 {
            cycle(if number % 10 == 0 { IGNORES_SIGTERM } else { "" }).await;
        }
        // Threads end a moment after their child is over.
        in_time("threads to end", async {
            while resources() != before {
                tokio::task::yield_now().await;
            }
        })
        .await;
    });
}

/// Starts and closes a child, and fails to start another one.
async fn cycle(text: &str) {
    let server = Server::run(&format!("{text} echo ready; cat")).await;
    assert!(
        Child::spawn(&Command::new("/no/such/file"), "test", TaskTracker::new().token())
            .await
            .is_err()
    );
    closed(&server.child, SHORT_GRACE).await;
}

/// Descriptors, threads and children, including zombies.
fn resources() -> [usize; 3] {
    let listed = |folder: &str| fs::read_dir(folder).expect("Linux").flatten();
    let children = listed("/proc/self/task").filter_map(|task| {
        let list = fs::read_to_string(task.path().join("children")).ok()?;
        Some(list.split_whitespace().count())
    });
    [listed("/proc/self/fd").count(), listed("/proc/self/task").count(), children.sum()]
}
