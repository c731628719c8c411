//! Long work on a thread that others need as well.

use std::time::{Duration, Instant};
use tokio::task::yield_now;

/// How long it goes on without a pause.
const STRETCH: Duration = Duration::from_millis(5);

/// The pace of long work.
pub(super) struct Pace(Instant);

impl Default for Pace {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Pace {
    /// Lets others have the thread, if it is their turn.
    pub(super) async fn keep(&mut self) {
        if self.0.elapsed() >= STRETCH {
            yield_now().await;
            self.0 = Instant::now();
        }
    }
}
