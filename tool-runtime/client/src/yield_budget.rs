//! Yields during long work on a shared thread.

use std::time::{Duration, Instant};
use tokio::task::yield_now;

/// Time between two yields.
const YIELD_INTERVAL: Duration = Duration::from_millis(5);

/// The pace of long work.
pub(super) struct YieldBudget(Instant);

impl Default for YieldBudget {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl YieldBudget {
    /// Lets others have the thread, if it is their turn.
    pub(super) async fn keep(&mut self) {
        if self.0.elapsed() >= YIELD_INTERVAL {
            yield_now().await;
            self.0 = Instant::now();
        }
    }
}
