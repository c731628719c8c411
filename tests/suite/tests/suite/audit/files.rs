//! Files that are locked or cannot be written. Full disks are tested in `tests/external`, since they need a mount.

use crate::support::Directory;
use tool_runtime::audit::{EventLog, LogErrorKind};
use tool_runtime::prelude::*;

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
