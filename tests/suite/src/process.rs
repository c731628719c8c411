//! Runs other programs to their end.

use crate::built::scratch;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The exit and the output of a program.
#[derive(Debug)]
pub struct Ended {
    /// `None` after a timeout.
    pub status: Option<ExitStatus>,
    /// Standard output and standard error.
    pub output: String,
}

impl Ended {
    /// Whether it exited with success.
    pub fn is_success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// Description of the exit for error messages.
    pub fn described(&self) -> String {
        match self.status {
            Some(status) => format!("ended with {status}:\n{}", self.output),
            None => format!("did not end in time:\n{}", self.output),
        }
    }
}

/// Runs a command to its end or to `limit`, whichever comes first. Its output goes through a
/// file, since a pipe would stay open for as long as any descendant lives.
///
/// # Errors
/// The command cannot be started.
pub fn run(command: &mut Command, limit: Duration) -> io::Result<Ended> {
    let path = log_path();
    let log = File::create(&path)?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .inspect_err(|_| drop(fs::remove_file(&path)))?;
    let status = wait(&mut child, limit)?;
    let output = fs::read(&path)?;
    fs::remove_file(&path)?;
    Ok(Ended { status, output: String::from_utf8_lossy(&output).into_owned() })
}

/// A separate file for each run of each process.
fn log_path() -> PathBuf {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    scratch().join(format!("run-{}-{run}.log", std::process::id()))
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}
