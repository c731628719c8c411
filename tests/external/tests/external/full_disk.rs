//! The log of calls on a disk that is full.

use crate::needs::Need;
use libtest_mimic::Trial;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use tempfile::TempDir;
use tool_runtime::audit::{EventLog, LogErrorKind, LogReader, LogRecord, OnFailure, RecordKind};
use tool_runtime::prelude::*;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        Need::Mount.test(
            "full_disk::a_program_rejects_calls_and_keeps_a_whole_log",
            a_program_rejects_calls_and_keeps_a_whole_log,
        ),
        Need::Mount.test(
            "full_disk::calls_continue_if_configured_and_the_log_reports_it",
            calls_continue_if_configured_and_the_log_reports_it,
        ),
    ]
}

/// A file system of a megabyte, unmounted on drop.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> Result<Self, String> {
        let directory = TempDir::new().map_err(|error| error.to_string())?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(directory.path());
        match mount.output() {
            Ok(output) if output.status.success() => Ok(Self(directory)),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Err(format!("`mount`: {error}")),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(self.0.path()).status());
    }
}

pub(crate) fn check_mount() -> Result<(), String> {
    let mounted = SmallDisk::mount().map(drop);
    mounted.map_err(|reason| format!("needs the right to mount a file system ({reason})"))
}

fn tools(log: &EventLog, effects: Option<PathBuf>) -> ToolPool {
    let append = move || {
        let Some(effects) = &effects else { return Ok("written") };
        let file = File::options().append(true).create(true).open(effects);
        file?.write_all(b"effect\n").map(|()| "written")
    };
    let write = move || std::future::ready(append().map_err(ToolError::from));
    ToolPool::builder()
        .add(Tool::builder("read", "Answer.").read_only(true).handler(|| async { "read" }))
        .add(Tool::builder("write", "Answer.").handler(write))
        .recorder(log.clone())
        .build()
        .unwrap()
}

async fn call(pool: &ToolPool, tool: &str) -> Result<(), String> {
    let result = pool.call(ToolCall::new(tool, "{}")).await;
    match result.error() {
        None => Ok(()),
        Some(error) => Err(format!("{}: {}", error.class(), error.detail().unwrap_or_default())),
    }
}

fn records(log: &Path) -> Vec<LogRecord> {
    LogReader::open(log).unwrap().records().collect::<Result<_, _>>().unwrap()
}

fn check_chain(log: &Path) {
    let verified = LogReader::open(log).unwrap().verify(None).unwrap();
    assert_eq!(verified.problems, [], "{}", log.display());
}

const PROGRAM: &str = "fill-the-disk";

/// Whether this process is the program of the first test.
pub(crate) fn is_program() -> bool {
    std::env::args().nth(1).is_some_and(|argument| argument == PROGRAM)
}

/// `fill-the-disk LOG EFFECTS` calls until a call is rejected. It prints a line for each successful call, and the reason
/// last.
pub(crate) fn fill() -> ExitCode {
    let mut files = std::env::args_os().skip(2).map(PathBuf::from);
    let (log, effects) = files.next().zip(files.next()).expect("two files");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let log = EventLog::builder().on_failure(OnFailure::Reject).open(log).unwrap();
    let pool = tools(&log, Some(effects));
    let rejection = runtime.block_on(async {
        loop {
            match call(&pool, "write").await {
                Ok(()) => println!("done"),
                Err(rejection) => return rejection,
            }
        }
    });
    println!("{rejection}");
    ExitCode::SUCCESS
}

async fn a_program_rejects_calls_and_keeps_a_whole_log() {
    for name in ["calls.db", "calls.jsonl"] {
        let (disk, elsewhere) = (SmallDisk::mount().unwrap(), TempDir::new().unwrap());
        let (log, effects) = (disk.file(name), elsewhere.path().join("effects"));
        let mut program = Command::new(std::env::current_exe().unwrap());
        let output = program.arg(PROGRAM).args([&log, &effects]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (done, rejection): (Vec<_>, Vec<_>) = text.lines().partition(|line| *line == "done");
        assert!(output.status.success(), "{text}");
        assert!(matches!(rejection[..], [it] if it.starts_with("transient: ")), "{rejection:?}");
        let effects = fs::read_to_string(&effects).unwrap().lines().count();
        check_chain(&log);
        let started = records(&log).iter().filter(|r| r.kind == RecordKind::Started).count();
        // A rejected call has no effect, and each effect has its start.
        assert_eq!(effects, done.len());
        assert!(effects > 20 && started >= effects, "{started} of {effects}");
    }
}

async fn calls_continue_if_configured_and_the_log_reports_it() {
    let disk = SmallDisk::mount().unwrap();
    let (path, filler) = (disk.file("calls.jsonl"), disk.file("filler"));
    let log = EventLog::builder().on_failure(OnFailure::Continue).open(&path).unwrap();
    let pool = tools(&log, None);
    call(&pool, "write").await.unwrap();
    log.flush().await.unwrap();
    drop(fs::write(&filler, vec![b'x'; 2 << 20]));
    for _ in 0..20 {
        call(&pool, "write").await.unwrap();
        call(&pool, "read").await.unwrap();
    }
    let error = log.flush().await.unwrap_err();
    assert_eq!(error.kind(), LogErrorKind::Full);
    assert!(log.status().unwritten > 0);
    check_chain(&path);
    // The disk has room again: the log writes what it could not write before.
    fs::remove_file(&filler).unwrap();
    log.flush().await.unwrap();
    assert_eq!(records(&path).iter().filter(|record| record.kind.is_end()).count(), 41);
    check_chain(&path);
}
