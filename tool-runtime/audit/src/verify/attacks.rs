//! Attacks on logs: each changes the files of a log, and `verify` must name the change. Some cannot be found
//! without a head that was kept elsewhere, and some not at all: the docs of the crate list them.

mod jsonl;
mod pruned;
mod sqlite;

use crate::chain::Head;
use crate::testing::Folder;
use crate::{EventLog, LogReader};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::{Execution, Tool, ToolCall};

/// The calls of a log, of four records each. The first is a step of a run.
const CALLS: u64 = 5;
/// The last record.
const LAST: u64 = 4 * CALLS;

/// A log under attack.
struct Log {
    folder: Folder,
    /// The log.
    path: PathBuf,
    /// Another log of the same calls.
    other: PathBuf,
    /// The heads of the log, as its writer gave them.
    heads: Vec<Head>,
}

/// One change, and what is found of it.
struct Attack {
    name: &'static str,
    /// Without a head, and with the head after the last call. Of a string that ends with `..`, the
    /// beginning counts.
    found: [&'static str; 2],
    change: fn(&Log),
}

/// Found in the log itself.
fn found(name: &'static str, found: &'static str, change: fn(&Log)) -> Attack {
    Attack { name, found: [found, found], change }
}

/// Found only with a head.
fn by_head(name: &'static str, by_head: &'static str, change: fn(&Log)) -> Attack {
    Attack { name, found: ["", by_head], change }
}

/// Found in the log itself; with a head, more is.
fn both(name: &'static str, found: [&'static str; 2], change: fn(&Log)) -> Attack {
    Attack { name, found, change }
}

const CUT: &str = "the end was cut: the last record is 16, and record 20 was written";
const EMPTY: &str = "the log is empty: either nothing was recorded, or all records were removed";
const OTHER_HEAD: &str =
    "record 20 has another hash than the head that was kept: the log was written anew";

impl Log {
    async fn written(name: &str) -> Self {
        let folder = Folder::new();
        let (path, other) = (folder.file(name), folder.file(&format!("other-{name}")));
        write_calls(&other, CALLS).await;
        let heads = write_calls(&path, CALLS).await;
        Self { folder, path, other, heads }
    }

    /// Another copy of the files.
    fn copied(&self) -> Self {
        let folder = Folder::new();
        let own = self.path.parent().unwrap();
        for entry in fs::read_dir(own).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), folder.file(entry.file_name().to_str().unwrap())).unwrap();
        }
        let moved = |path: &Path| folder.file(path.file_name().unwrap().to_str().unwrap());
        let (path, other, heads) = (moved(&self.path), moved(&self.other), self.heads.clone());
        Self { path, other, heads, folder }
    }

    /// All problems, or the word `error` if the log cannot be read.
    fn verified(&self, head: Option<&Head>) -> String {
        let found = LogReader::open(&self.path).and_then(|reader| reader.verify(head));
        let Ok(found) = found else { return "error".to_owned() };
        let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
        problems.join("; ")
    }

    fn head(&self) -> &Head {
        self.heads.last().unwrap()
    }
}

/// Writes calls, each in a transaction of its own. The second has characters beyond ASCII.
async fn write_calls(path: &Path, calls: u64) -> Vec<Head> {
    let (sender, heads) = std::sync::mpsc::channel();
    let log = EventLog::builder().write_every(Duration::from_secs(3600));
    let log = log.on_head(move |head| sender.send(head.clone()).unwrap()).open(path).unwrap();
    let schema = serde_json::json!({ "type": "object", "properties": { "text": {} } });
    let echo = Tool::builder("echo", "Answer.").read_only(true).input_schema(schema);
    let pool = ToolPool::builder().add(echo.handler(|| async { "é" })).recorder(log.clone());
    let pool = pool.build().unwrap();
    let step = pool.context().in_execution(&Arc::new(Execution::new("one")));
    for number in 1..=calls {
        let context = if number == 1 { step.clone() } else { pool.context() };
        let call = serde_json::json!({ "text": format!("é\u{fffd}\u{1d11e} {number}") });
        pool.call_with(ToolCall::json("echo", call), &context).await;
        log.flush().await.unwrap();
    }
    drop((pool, log, step));
    heads.iter().collect()
}

/// Runs each attack on a copy of the log.
fn run(log: &Log, attacks: &[Attack]) {
    let head = log.head();
    assert_eq!((log.verified(None), log.verified(Some(head))), (String::new(), String::new()));
    let mut failures = Vec::new();
    for Attack { name, found, change } in attacks {
        let log = log.copied();
        change(&log);
        for (expected, head) in found.iter().zip([None, Some(head)]) {
            let found = log.verified(head);
            let is_expected = match expected.strip_suffix("..") {
                Some(beginning) => found.starts_with(beginning),
                None => found == *expected,
            };
            if !is_expected {
                failures.push(format!("{name}\n  expected {expected:?}\n  found    {found:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
