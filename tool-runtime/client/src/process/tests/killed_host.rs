//! Children whose host is killed, and resources of the host after its children have exited.

use super::super::{Child, Command};
use super::support::{
    IGNORES_SIGTERM, SHORT_GRACE, Server, UNREACHED_GRACE, assert_exits, closed, in_own_process,
    pid,
};
use crate::time_limit::in_time;
use rustix::process::{Signal, getpid, kill_process};
use std::fs;
use std::thread;
use tokio::io::AsyncWriteExt as _;
use tokio::runtime::Runtime;
use tokio_util::task::TaskTracker;

/// A child and a grandchild that outlive each other: the child ignores the end of its input, the
/// grandchild waits only for that.
const INDEPENDENT_PAIR: &str = "{ cat <&3 >/dev/null & } 3<&0; echo $!; echo $$; exec sleep 600";

#[test]
fn children_of_a_killed_host_exit() {
    let host = in_own_process("killed_host::children_of_a_killed_host_exit", || {
        let runtime = Runtime::new().expect("a runtime");
        let mut server = runtime.block_on(Server::run(INDEPENDENT_PAIR));
        for _ in 0..2 {
            let line = runtime.block_on(server.line());
            fs::write("/dev/stdout", format!("\npid {line}\n")).expect("the output is open");
        }
        kill_process(getpid(), Signal::KILL).expect("it is ours");
        unreachable!("this process was killed");
    });
    let Some(host) = host else { return };
    let printed = String::from_utf8_lossy(&host.stdout);
    let pids: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("pid ")).collect();
    assert_eq!(pids.len(), 2, "{host:?}");
    pids.iter().for_each(|number| assert_exits(pid(number)));
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
    let host = in_own_process("killed_host::many_children_leave_no_process", || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            // Starts the clock of time limits, which has a thread.
            in_time("nothing", async {}).await;
            let before = resources();
            for number in 0..100 {
                cycle(if number % 10 == 0 { IGNORES_SIGTERM } else { "" }).await;
            }
            // Threads end a moment after their child is over.
            let settled = async {
                while resources() != before {
                    tokio::task::yield_now().await;
                }
            };
            let settled = tokio::time::timeout(UNREACHED_GRACE, settled).await;
            assert!(settled.is_ok(), "{before:?} became {:?}", resources());
        });
    });
    if let Some(host) = host {
        let printed = String::from_utf8_lossy(&host.stdout);
        assert!(printed.contains("1 passed"), "{host:?}");
    }
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
