//! Policies that change while a program runs.

mod log;

use crate::LivePolicy;
use std::fs::File;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::timeout;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::{Tool, ToolCall};

const ALLOW: &str = "rules: [{id: a, then: allow}]\n";
const DENIES: &str = "rules: [{id: a, then: deny }]\n";

/// Whether a call runs.
async fn runs(policy: &LivePolicy) -> bool {
    let ping = Tool::builder("t", "Answer at once.").handler(|| async { "pong" });
    let pool = ToolPool::builder().add(ping).install(policy.clone()).build().unwrap();
    !pool.call(ToolCall::new("t", "")).await.is_error()
}

#[tokio::test]
async fn an_edit_of_equal_size_and_time_is_noticed() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("policy.yaml");
    std::fs::write(&path, ALLOW).unwrap();
    let time = path.metadata().unwrap().modified().unwrap();
    let policy = LivePolicy::open(&path).unwrap();
    assert!(!policy.reload_if_changed().unwrap());
    std::fs::write(&path, DENIES).unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert!(policy.reload_if_changed().unwrap());
    assert!(!runs(&policy).await);
}

#[test]
fn a_folder_notices_changed_new_and_removed_files() {
    let directory = TempDir::new().unwrap();
    let file = |name: &str| directory.path().join(name);
    std::fs::write(file("_global.yaml"), ALLOW).unwrap();
    let policy = LivePolicy::open(directory.path()).unwrap();
    std::fs::write(file("notes.txt"), "not a policy").unwrap();
    assert!(!policy.reload_if_changed().unwrap());
    std::fs::write(file("_global.yaml"), DENIES).unwrap();
    assert!(policy.reload_if_changed().unwrap());
    std::fs::write(file("ada.yaml"), "rules: []").unwrap();
    assert!(policy.reload_if_changed().unwrap());
    std::fs::remove_file(file("ada.yaml")).unwrap();
    assert!(policy.reload_if_changed().unwrap());
}

/// The one thread of the runtime lets the reading of a new version end, so it must not be the reading thread.
#[tokio::test]
async fn a_changed_policy_is_not_read_by_the_threads_of_the_runtime() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("policy.yaml");
    std::fs::write(&path, ALLOW).unwrap();
    let (go, may_go) = channel::<()>();
    let (began, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
    let gate: Arc<Mutex<Option<Receiver<()>>>> = Arc::default();
    let waits = Arc::clone(&gate);
    let policy = LivePolicy::configured(&path, move |policy| {
        if let Some(may_go) = waits.lock().unwrap().take() {
            began.send(()).unwrap();
            may_go.recv_timeout(Duration::from_secs(60)).expect("the runtime to go on");
        }
        policy
    });
    *gate.lock().unwrap() = Some(may_go);
    policy.watch(Duration::from_millis(1));
    std::fs::write(&path, DENIES).unwrap();
    let replaced = async {
        has_begun.recv().await.unwrap();
        assert!(runs(&policy).await, "the version before counts meanwhile");
        go.send(()).unwrap();
        while runs(&policy).await {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(20), replaced).await.expect("the new version to count");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_policy_and_is_not_waited_for() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("policy.yaml");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let error = LivePolicy::open(&path).unwrap_err().to_string();
    assert!(error.contains("it is not a regular file; name a file"), "{error}");
}
