//! Exits of children: on their own, by signals, and together with their descendants.

use super::super::Child;
use super::super::exit::Exit;
use super::support::{
    IGNORES_SIGTERM, Process, SHORT_GRACE, Server, UNREACHED_GRACE, closed, closed_by_sigterm,
    exited, script,
};
use crate::time_limit::LIMIT;
use futures_util::FutureExt as _;
use std::env;
use std::fs;
use std::process;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

#[tokio::test]
async fn the_end_of_its_input_ends_a_child() {
    let server = Server::run("cat; exit 3").await;
    closed(&server.child, UNREACHED_GRACE).await;
    assert_eq!(server.child.exit(), Some(Exit::Code(3)));
}

#[tokio::test]
async fn a_writer_may_end_its_child() {
    let server = Server::run("cat").await;
    drop(server.stdin);
    assert_eq!(exited(&server.child).await, Exit::Code(0));
}

#[tokio::test]
async fn a_child_that_ignores_eof_gets_sigterm() {
    let mut server =
        Server::run("trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done").await;
    assert_eq!(server.line().await, "ready");
    closed_by_sigterm(&server.child).await;
    assert_eq!(server.child.exit(), Some(Exit::Code(5)));
}

#[tokio::test]
async fn a_child_that_ignores_sigterm_is_killed() {
    let mut server = Server::run("trap '' TERM; echo ready; while :; do sleep 60; done").await;
    assert_eq!(server.line().await, "ready");
    let begin = Instant::now();
    closed(&server.child, SHORT_GRACE).await;
    assert_eq!(server.child.exit(), Some(Exit::Signal(9)));
    assert!(begin.elapsed() >= 2 * SHORT_GRACE);
}

#[tokio::test]
async fn closing_leaves_no_process_of_the_group() {
    let mut server = Server::run(&format!("{IGNORES_SIGTERM} cat")).await;
    let process = server.process().await;
    closed(&server.child, SHORT_GRACE).await;
    assert!(process.has_exited());
}

#[tokio::test]
async fn a_child_that_exits_leaves_no_descendants() {
    let mut server = Server::run(&format!("{IGNORES_SIGTERM} read line; exit 7")).await;
    let process = server.process().await;
    drop(server.stdin);
    assert_eq!(exited(&server.child).await, Exit::Code(7));
    process.assert_exits();
}

#[tokio::test]
async fn grandchildren_have_time_to_exit() {
    let text = "sh -c 'trap \"sleep 0.2; echo cleaned; exit\" TERM; echo $$; while :; do sleep 0.01; done' & cat";
    let mut server = Server::run(text).await;
    let grandchild = server.process().await;
    closed_by_sigterm(&server.child).await;
    assert!(grandchild.has_exited());
    assert_eq!(server.line().await, "cleaned");
}

#[tokio::test]
async fn a_clean_exit_needs_no_grace_period() {
    let server = Server::run("cat").await;
    closed(&server.child, UNREACHED_GRACE).await;
    assert_eq!(server.child.exit(), Some(Exit::Code(0)));
}

#[tokio::test]
async fn closing_twice_waits_for_one_exit() {
    let mut server = Server::run("trap '' TERM; echo ready; while :; do sleep 60; done").await;
    assert_eq!(server.line().await, "ready");
    tokio::join!(closed(&server.child, SHORT_GRACE), closed(&server.child, UNREACHED_GRACE));
    closed(&server.child, UNREACHED_GRACE).await;
    assert_eq!(server.child.exit(), Some(Exit::Signal(9)));
}

#[tokio::test]
async fn a_dropped_wait_does_not_stop_the_shutdown() {
    let mut server = Server::run(&format!("{IGNORES_SIGTERM} while :; do sleep 60; done")).await;
    let process = server.process().await;
    let given_up = timeout(Duration::ZERO, server.child.close(SHORT_GRACE)).await;
    assert!(given_up.is_err());
    closed(&server.child, UNREACHED_GRACE).await;
    assert!(process.has_exited());
}

#[tokio::test]
async fn a_dropped_child_is_killed_with_its_group() {
    let mut server = Server::run(&format!("{IGNORES_SIGTERM} cat")).await;
    let process = server.process().await;
    drop(server.child);
    process.assert_exits();
}

#[test]
fn children_end_with_their_runtime() {
    let runtime = Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let (sender, receiver) = mpsc::channel();
    runtime.spawn(async move {
        let mut server =
            Server::run(&format!("{IGNORES_SIGTERM} echo $$; while :; do sleep 60; done")).await;
        sender.send([server.process().await, server.process().await]).expect("the test waits");
        std::future::pending::<()>().await;
    });
    let [one, other] = receiver.recv_timeout(LIMIT).expect("two processes");
    drop(runtime);
    one.assert_exits();
    other.assert_exits();
}

#[test]
fn a_child_can_be_dropped_without_a_runtime() {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut server = runtime.block_on(Server::run(&format!("{IGNORES_SIGTERM} cat")));
    let process = runtime.block_on(server.process());
    drop(runtime);
    drop(server);
    process.assert_exits();
}

#[tokio::test]
async fn an_abandoned_start_leaves_no_process() {
    let pids = env::temp_dir().join(format!("tool-runtime-{}", process::id()));
    // A FIFO blocks writers until their process id is read.
    let status = process::Command::new("mkfifo").arg(&pids).status().expect("mkfifo");
    assert!(status.success());
    let text =
        format!("{IGNORES_SIGTERM} echo $$ >'{}'; while :; do sleep 60; done", pids.display());
    assert!(
        Child::spawn(&script(&text), "test", TaskTracker::new().token()).now_or_never().is_none()
    );
    let written = fs::read_to_string(&pids);
    fs::remove_file(&pids).expect("it is there");
    Process::of(&written.expect("a number")).assert_exits();
}
