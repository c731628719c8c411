//! Letting everybody else run between messages.
//!
//! Lines that are already here never wait for anything, and rmcp makes a task of each message. On
//! one core, whoever reads on and on has them all waiting before the first of them is worked off.

use std::future::poll_fn;
use std::task::Poll;
use tokio::task::JoinHandle;

/// Messages read before other tasks get a turn. Half as many cost throughput.
const MESSAGES_PER_TURN: u32 = 32;

/// Counts messages, and ends the turn after so many.
#[derive(Default)]
pub(super) struct ReadBudget {
    taken: u32,
    /// A task that ends when the others have had their turn. That the task that reads yields would
    /// not do: it is woken by every answer, too.
    others: Option<JoinHandle<()>>,
}

impl ReadBudget {
    /// Whether this turn is over.
    pub(super) fn is_over(&self) -> bool {
        self.others.is_some()
    }

    /// Waits for the next turn, if this one is over. Cancel safe.
    pub(super) async fn mine(&mut self) {
        if let Some(others) = &mut self.others {
            // It neither panics nor is aborted; if the runtime ends, so does this task.
            let _ = others.await;
            self.others = None;
        }
    }

    /// A message is taken.
    pub(super) fn take(&mut self) {
        self.taken += 1;
        if self.taken == MESSAGES_PER_TURN {
            self.taken = 0;
            self.others = Some(tokio::spawn(once_around()));
        }
    }
}

/// Goes to the end of the queue, once. Unlike `tokio::task::yield_now`, it can be taken from there by
/// another worker when a tool blocks this one.
async fn once_around() {
    let mut was_polled = false;
    poll_fn(|task| {
        if std::mem::replace(&mut was_polled, true) {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
