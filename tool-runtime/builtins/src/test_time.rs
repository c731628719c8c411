//! Time in tests, whose results do not depend on the speed of the machine.

use std::sync::mpsc;
use std::time::Duration;

/// More than any test takes.
const LIMIT: Duration = Duration::from_secs(300);

/// Lets everything of this runtime that waits for a time wait less by `time`. A test skips a limit when what must have
/// happened before it has happened.
///
/// It must not be dropped before it is over: the time would stay paused.
///
/// # Panics
/// The runtime has several threads.
#[cfg(any(feature = "code", feature = "shell", feature = "web"))]
pub(crate) async fn skip_time(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// Waits for at most five minutes, by a clock that skips nothing.
///
/// # Panics
/// The work hangs.
#[cfg(any(feature = "code", feature = "shell"))]
pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    let (expire, expired) = tokio::sync::oneshot::channel();
    let (_guard, dropped) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        if dropped.recv_timeout(LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = expire.send(());
        }
    });
    tokio::select! {
        biased;
        output = work => output,
        Ok(()) = expired => panic!("waited {LIMIT:?}"),
    }
}

/// The result of work that takes seconds at most, and hours if its limits are missing.
///
/// # Panics
/// It does not end, or panics.
#[cfg(any(feature = "files", feature = "web"))]
pub(crate) fn ends<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(LIMIT).expect("the work has ended")
}
