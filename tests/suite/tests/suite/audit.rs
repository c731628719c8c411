//! The log of calls from outside: programs that are killed, disks that are full, several processes.

mod crashes;
mod decisions;
mod full;
mod golden;
mod processes;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use suite::limit::Limit;
use tool_runtime::audit::{LogReader, LogRecord};

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("suite-audit-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

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
    assert_eq!(found.problems, [], "{}", log.display());
}
