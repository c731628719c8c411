//! Helpers of unit tests.

use crate::{EventLog, LogReader, LogRecord, RecordKind};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use tool_runtime_core::pool::{ToolPool, ToolPoolBuilder};
use tool_runtime_core::tool::peer::Peer;
use tool_runtime_core::tool::{Tool, ToolCall};

/// A folder that is removed when the test ends.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("audit-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The names of the files, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// A pool that is recorded.
pub(crate) fn pool(log: &EventLog) -> ToolPool {
    tools().recorder(log.clone()).build().unwrap()
}

/// The trace of the requests of [`WebClient`].
pub(crate) const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// A client over HTTP, with a trace and a session.
pub(crate) struct WebClient;

impl Peer for WebClient {
    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        match name {
            "traceparent" => Some(format!("00-{TRACE}-00f067aa0ba902b7-01").into()),
            "mcp-session-id" => Some("session-7".into()),
            _ => None,
        }
    }
}

/// A tool that is safe to repeat, `echo`, and one that is not, `send`.
pub(crate) fn tools() -> ToolPoolBuilder {
    let schema = serde_json::json!({ "type": "object", "properties": { "text": {} } });
    let tool = |name: &str| Tool::builder(name, "Give the text back.").input_schema(schema.clone());
    let echo = |arguments: serde_json::Map<String, serde_json::Value>| async move {
        arguments.get("text").map(ToString::to_string).unwrap_or_default()
    };
    ToolPool::builder()
        .add(tool("echo").read_only(true).handler(echo))
        .add(tool("send").handler(echo))
}

/// Calls `echo` some times.
pub(crate) async fn fill(log: &EventLog, calls: u32) {
    let pool = pool(log);
    for number in 0..calls {
        let call = ToolCall::json("echo", serde_json::json!({ "text": number }));
        pool.call(call).await;
    }
    log.flush().await.unwrap();
}

pub(crate) async fn records(log: &EventLog) -> Vec<LogRecord> {
    log.reader().await.unwrap().records().collect::<Result<_, _>>().unwrap()
}

pub(crate) async fn kinds(log: &EventLog) -> Vec<RecordKind> {
    records(log).await.iter().map(|record| record.kind).collect()
}

/// The contents of a file.
pub(crate) fn problems(path: &Path) -> Vec<String> {
    let verification = LogReader::open(path).unwrap().verify(None).unwrap();
    verification.problems.iter().map(ToString::to_string).collect()
}
