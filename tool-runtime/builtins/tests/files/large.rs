//! Large files: a gigabyte is read, 8 MiB are edited.
#![cfg(unix)]

use crate::support::{Folder, Tools, tools};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Mutex};
use tool_runtime::peer::{Peer, Progress};
use tool_runtime::prelude::*;

const GIGABYTE: u64 = 1 << 30;

/// A file whose middle is a hole.
fn sparse(folder: &Folder) {
    let mut file = File::create(folder.path("large.log")).unwrap();
    for line in 1..=30_000 {
        writeln!(file, "line {line}").unwrap();
    }
    file.seek(SeekFrom::Start(GIGABYTE)).unwrap();
    file.write_all(b"\nlast but one\nlast").unwrap();
}

fn read(offset: i64, limit: usize) -> Value {
    json!({ "file_path": "large.log", "offset": offset, "limit": limit })
}

#[tokio::test]
async fn a_gigabyte_is_read_in_parts() {
    let folder = Folder::new();
    sparse(&folder);
    let tools = Tools::over(folder.path(""));
    let value = tools.value("Read", read(20_001, 2)).await;
    assert_eq!(
        value["text"],
        " 20001\tline 20001\n 20002\tline 20002\n[lines 20001 to 20002; continue with offset 20003]\n"
    );
    assert!(value["total"].is_null() && value["sha256"].is_null());
    let last = tools.value("Read", read(-2, 10)).await;
    assert_eq!(last["text"], " 30002\tlast but one\n 30003\tlast\n");
    assert_eq!(last["total"], 30_003);
    let error = tools.error("Read", read(30_004, 1)).await;
    assert_eq!(error, "`large.log` has 30003 lines, and line 30004 is past its end");
    // The hole is one line of zeros, which is cut.
    let hole = tools.value("Read", read(30_001, 1)).await;
    assert_eq!(hole["lines"], 1);
    assert!(hole["text"].as_str().unwrap().len() < 10_000);
    print_peak();
}

/// Prints the most memory that this process had.
fn print_peak() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default());
}

/// Megabytes that a process needs for one test.
#[cfg(target_os = "linux")]
fn peak_of(test: &str) -> u64 {
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program)
        .args(["--exact", test, "--nocapture"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("1 passed"), "{text}");
    let peak = text.lines().find_map(|line| line.split_once("VmHWM:")).unwrap().1;
    let peak = peak.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024;
    println!("{test}: {peak} MB");
    peak
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded() {
    assert!(peak_of("large::a_gigabyte_is_read_in_parts") < 100);
    assert!(peak_of("large::eight_megabytes_are_edited") < 30 * 8);
}

#[tokio::test]
async fn eight_megabytes_are_edited() {
    let line = "0123456789 abcdefghi\n";
    let content = format!("{}last\r\n", line.repeat((8 << 20) / line.len() - 1));
    let (folder, tools) = tools(&[("large.log", &content)]);
    tools.ok("Read", read(-1, 1)).await;
    let edit = crate::support::edit("large.log", "last\n", "x\ny\n");
    let value = tools.value("Edit", edit).await;
    print_peak();
    let diff = value["diff"].as_str().unwrap();
    assert!(diff.ends_with(" 0123456789 abcdefghi\n-last\r\n+x\r\n+y\r\n"), "{diff}");
    let end = content.len() - "last\r\n".len();
    assert!(folder.text("large.log") == format!("{}x\r\ny\r\n", &content[..end]));
    let edit = crate::support::edit("large.log", "x\ny\n", &line.repeat(1000));
    let error = tools.error("Edit", edit).await;
    assert!(error.contains("files of more than 8388608 are not written by this tool"), "{error}");
    assert!(folder.text("large.log") == format!("{}x\r\ny\r\n", &content[..end]));
}

/// Receives progress.
#[derive(Default)]
struct Bar(Mutex<Vec<(f64, Option<f64>)>>);

impl Peer for Bar {
    fn accepts_progress(&self) -> bool {
        true
    }

    fn progress(&self, progress: Progress) {
        self.0.lock().unwrap().push((progress.done, progress.total));
    }
}

/// The progress of a call that succeeds.
async fn progress_of(tools: &Tools, tool: &str, arguments: Value) -> Vec<(f64, Option<f64>)> {
    let bar = Arc::new(Bar::default());
    let context = tools.0.context().with_peer(Arc::clone(&bar) as Arc<dyn Peer>);
    let result = tools.0.call_with(ToolCall::json(tool, arguments), &context).await;
    assert!(!result.is_error(), "{}", result.observation().to_text());
    let seen = bar.0.lock().unwrap().clone();
    assert!(seen.is_sorted_by(|before, after| before.0 < after.0), "{seen:?}");
    seen
}

#[tokio::test]
async fn long_work_reports_progress() {
    let (folder, tools) = tools(&[]);
    let file = File::create(folder.path("large.log")).unwrap();
    file.set_len(100 << 20).unwrap();
    file.write_at(&[b'\n'; 70_000], 0).unwrap();
    let seen = progress_of(&tools, "Read", read(-1, 1)).await;
    let total = Some(f64::from(100 << 20));
    assert_eq!(seen, [32, 64, 96].map(|done| (f64::from(done << 20), total)));
    let files: String = (0..3).map(|number| format!("*** Add File: {number}\n+x\n")).collect();
    let patch = format!("*** Begin Patch\n{files}*** End Patch\n");
    let seen = progress_of(&tools, "apply_patch", json!({ "patch": patch })).await;
    assert_eq!(seen, [1, 2, 3, 4, 5, 6].map(|done| (f64::from(done), Some(6.0))));
}

#[tokio::test]
async fn a_gigabyte_is_not_edited() {
    let folder = Folder::new();
    sparse(&folder);
    let tools = Tools::over(folder.path(""));
    tools.ok("Read", read(1, 1)).await;
    let edit = crate::support::edit("large.log", "line 1\n", "x");
    let error = tools.error("Edit", edit).await;
    assert!(
        error.contains("cannot be changed by this tool; use a command such as `sed`"),
        "{error}"
    );
    assert_eq!(std::fs::metadata(folder.path("large.log")).unwrap().len(), GIGABYTE + 18);
    assert_eq!(folder.names(), ["large.log"]);
}
