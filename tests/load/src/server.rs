//! A server's process, from its start to its end.

use crate::outcome::Outcome;
use crate::processes;
use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time for a server to exit after the end of its input.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// A running server, ended when this is dropped.
pub(crate) struct Server {
    child: Arc<Mutex<Child>>,
    id: u32,
    /// Stops the watchdog when dropped.
    _running: Sender<()>,
}

impl Server {
    /// Starts a server that is killed after `limit`; readers then see the end of its
    /// output.
    pub(crate) fn start(mut command: Command, limit: Duration) -> io::Result<Self> {
        let child = command.spawn()?;
        let id = child.id();
        let child = Arc::new(Mutex::new(child));
        let (running, is_over) = mpsc::channel();
        let watched = Arc::clone(&child);
        thread::spawn(move || {
            if is_over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                let _ = lock(&watched).kill();
            }
        });
        Ok(Self { child, id, _running: running })
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Its standard input and output.
    ///
    /// # Panics
    /// If they were not piped, or have been taken.
    pub(crate) fn streams(&self) -> (ChildStdin, ChildStdout) {
        let mut child = lock(&self.child);
        child.stdin.take().zip(child.stdout.take()).expect("both are piped")
    }

    /// Its standard error.
    ///
    /// # Panics
    /// If it was not piped, or has been taken.
    pub(crate) fn log(&self) -> ChildStderr {
        lock(&self.child).stderr.take().expect("it is piped")
    }

    /// Waits a limited time until the process exits.
    ///
    /// # Errors
    /// If it does not exit, or not with success.
    pub(crate) fn wait(&self) -> io::Result<()> {
        let end = Instant::now() + EXIT_TIMEOUT;
        loop {
            let ended = lock(&self.child).try_wait()?;
            match ended {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(io::Error::other(format!("the server: {status}"))),
                None if Instant::now() >= end => {
                    return Err(io::Error::other("the server does not end after its input has"));
                }
                None => thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut child = lock(&self.child);
        // Fails only for a process that has exited.
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn lock(child: &Mutex<Child>) -> MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` and adds the CPU time and memory of the process meanwhile.
pub(crate) fn with_usage(
    process: Option<u32>,
    work: impl FnOnce() -> io::Result<Outcome>,
) -> io::Result<Outcome> {
    let cpu = || process.map(processes::cpu).unwrap_or_default();
    let (before, start) = (cpu(), Instant::now());
    let mut outcome = work()?;
    outcome.finish(start.elapsed());
    outcome.cpu = cpu().saturating_sub(before);
    outcome.peak_rss = process.map(processes::peak_rss).unwrap_or_default();
    Ok(outcome)
}
