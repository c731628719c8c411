//! Disks that are full, files that are locked or cannot be written.

use super::{check_chain, records, start};
use crate::support::Directory;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Command;
use tool_runtime::audit::{EventLog, LogErrorKind, OnFailure, RecordKind};
use tool_runtime::prelude::*;

/// A small file system, unmounted on drop.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(at: &'a Path) -> Option<Self> {
        let mounted = mount_command(at).output();
        mounted.is_ok_and(|out| out.status.success()).then_some(Self(at))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(self.0).status());
    }
}

fn mount_command(at: &Path) -> Command {
    let mut command = Command::new("mount");
    command.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(at);
    command
}

fn tools(log: &EventLog) -> ToolPool {
    let tool = |name: &str| Tool::builder(name, "Answer.");
    ToolPool::builder()
        .add(tool("read").read_only(true).handler(|| async { "read" }))
        .add(tool("write").handler(|| async { "written" }))
        .install(log.clone())
        .build()
        .unwrap()
}

async fn runs(pool: &ToolPool, tool: &str) -> bool {
    pool.call(ToolCall::new(tool, r#"{}"#)).await.error().is_none()
}

#[test]
fn a_program_whose_disk_is_full_rejects_calls_and_keeps_a_whole_log() {
    for name in ["calls.db", "calls.jsonl"] {
        let (directory, elsewhere) = (Directory::new(), Directory::new());
        let Some(_disk) = SmallDisk::mount(directory.path()) else {
            eprintln!("not tested: a small file system cannot be mounted here");
            return;
        };
        let log = directory.file(name);
        let (mut child, _limit) = start(&log, &elsewhere.file("effects"), "full", "one");
        let output = BufReader::new(child.stdout.take().unwrap());
        let lines: Vec<String> = output.lines().map_while(Result::ok).collect();
        assert!(child.wait().unwrap().success());
        let (last, done) = lines.split_last().unwrap();
        assert!(last.starts_with("transient: "), "{last}");
        assert!(done.len() > 20 && done.iter().all(|line| line == "done"), "{done:?}");
        // Each effect has its start.
        let effects = super::effects(&elsewhere.file("effects"));
        check_chain(&log);
        let started = records(&log).iter().filter(|r| r.kind == RecordKind::Started).count();
        assert_eq!(effects.len(), done.len());
        assert!(started >= effects.len(), "{started} of {}", effects.len());
    }
}

#[tokio::test]
async fn calls_continue_on_a_full_disk_if_configured_and_the_log_reports_it() {
    let directory = Directory::new();
    let Some(_disk) = SmallDisk::mount(directory.path()) else {
        eprintln!("not tested: a small file system cannot be mounted here");
        return;
    };
    let (path, filler) = (directory.file("calls.jsonl"), directory.file("filler"));
    let log = EventLog::builder().on_failure(OnFailure::Continue).open(&path).unwrap();
    let pool = tools(&log);
    assert!(runs(&pool, "write").await);
    log.flush().await.unwrap();
    drop(std::fs::write(&filler, vec![b'x'; 2 << 20]));
    for _ in 0..20 {
        assert!(runs(&pool, "write").await && runs(&pool, "read").await);
    }
    let error = log.flush().await.unwrap_err();
    assert_eq!(error.kind(), LogErrorKind::Full);
    assert!(log.status().unwritten > 0);
    check_chain(&path);
    // The disk has room again: the log writes what it could not write before.
    std::fs::remove_file(&filler).unwrap();
    log.flush().await.unwrap();
    assert_eq!(records(&path).iter().filter(|record| record.kind.is_end()).count(), 41);
    check_chain(&path);
}

#[tokio::test]
async fn a_locked_file_rejects_calls_until_it_is_free() {
    let directory = Directory::new();
    let path = directory.file("calls.db");
    let timeout = std::time::Duration::from_millis(10);
    let log = EventLog::builder().busy_timeout(timeout).open(&path).unwrap();
    let pool = tools(&log);
    assert!(runs(&pool, "write").await);
    let holder = rusqlite::Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(!runs(&pool, "write").await);
    assert!(!runs(&pool, "read").await, "the failure is known by now");
    assert_eq!(log.status().error.unwrap().kind(), LogErrorKind::Busy);
    holder.execute_batch("ROLLBACK").unwrap();
    log.flush().await.unwrap();
    assert!(runs(&pool, "write").await && runs(&pool, "read").await);
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_when_it_is_opened() {
    let directory = Directory::new();
    for name in ["calls.db", "calls.jsonl"] {
        let path = directory.file("none").join(name);
        let error = EventLog::open(&path).unwrap_err();
        assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
    }
}
