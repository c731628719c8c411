//! Time limits, so that a hanging test fails.

use crate::process::{Signal, signal};
use std::io;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;
use tokio::sync::oneshot;

/// Generous, since machines may be busy. Only a hanging test takes as long.
const LIMIT: Duration = Duration::from_secs(300);

/// Kills a process after five minutes, unless this is dropped before. A test that reads from the
/// process or waits for it then fails.
#[derive(Debug)]
pub struct Limit(#[expect(dead_code, reason = "dropped")] Sender<()>);

impl Limit {
    /// Limits a process that the test has started.
    pub fn of(child: &Child) -> Self {
        Self::within(LIMIT, child)
    }

    /// Limits a process that needs more time than others.
    pub fn within(limit: Duration, child: &Child) -> Self {
        let id = child.id();
        Self(after(limit, move || {
            // The failing test reports the timeout.
            eprintln!("process {id} did not end within {limit:?} and is killed");
            signal(id, Signal::KILL);
        }))
    }
}

/// Runs a command as `Command::output` does, for at most five minutes.
///
/// # Errors
/// The command cannot be started.
pub fn output(command: &mut Command) -> io::Result<Output> {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let _limit = Limit::of(&child);
    child.wait_with_output()
}

/// Waits for at most five minutes, by a clock that is never paused.
///
/// # Panics
/// The work hangs.
pub async fn limited<T>(work: impl Future<Output = T>) -> T {
    let (expire, expired) = oneshot::channel();
    let _limit = after(LIMIT, move || expire.send(()).unwrap_or(()));
    tokio::select! {
        biased;
        outcome = work => outcome,
        Ok(()) = expired => panic!("what the test waits for did not happen within {LIMIT:?}"),
    }
}

/// Runs an action after a delay, unless the returned guard is dropped before.
fn after(time: Duration, act: impl FnOnce() + Send + 'static) -> Sender<()> {
    let (guard, dropped) = mpsc::channel::<()>();
    thread::spawn(move || {
        if dropped.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            act();
        }
    });
    guard
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_fires_unless_it_is_dropped() {
        let (sender, receiver) = mpsc::channel();
        let cancelled = sender.clone();
        drop(after(Duration::from_secs(3600), move || cancelled.send(1).expect("the test waits")));
        let _guard =
            after(Duration::from_millis(1), move || sender.send(2).expect("the test waits"));
        assert_eq!(receiver.recv(), Ok(2));
        assert!(receiver.recv().is_err());
    }
}
