//! The log of calls from outside: programs that are killed, disks that are full, several processes.

mod crashes;
mod decisions;
mod files;
mod golden;
mod processes;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use suite::limit::Limit;
use tool_runtime::audit::{LogProblem, LogReader, LogRecord};

/// Starts the program that is killed.
fn start(log: &Path, effects: &Path, point: &str, run: &str) -> (Child, Limit) {
    let child = Command::new(env!("CARGO_BIN_EXE_audited"))
        .args([log, effects])
        .args([point, run])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let limit = Limit::of(&child);
    (child, limit)
}

fn records(log: &Path) -> Vec<LogRecord> {
    LogReader::open(log).unwrap().records().collect::<Result<_, _>>().unwrap()
}

/// The lines of the file of effects.
fn effects(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn check_chain(log: &Path) {
    let found = LogReader::open(log).unwrap().verify(None).unwrap();
    // A process that is killed early leaves no record.
    let expected = if records(log).is_empty() { vec![LogProblem::Empty] } else { Vec::new() };
    assert_eq!(found.problems, expected, "{}", log.display());
}
