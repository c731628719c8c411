//! A time limit for unit tests, so that a hanging test fails.

use std::sync::LazyLock;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Generous, since machines may be busy. Only a hanging unit test takes as long.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);

/// A separate clock, which is not affected when tests pause theirs.
static CLOCK: LazyLock<Runtime> = LazyLock::new(|| {
    let mut clock = Builder::new_multi_thread();
    clock.worker_threads(1).enable_time().build().expect("a thread")
});

/// Waits for at most five minutes.
///
/// # Panics
/// The work takes longer. The message names `what`.
pub(crate) async fn in_time<T>(what: &str, work: impl Future<Output = T>) -> T {
    let mut late = CLOCK.spawn(async { tokio::time::sleep(LIMIT).await });
    tokio::select! {
        biased;
        outcome = work => {
            late.abort();
            outcome
        }
        _ = &mut late => panic!("waited {LIMIT:?} for {what}"),
    }
}
