//! The connection of a runner to its board.

use super::Inner;
use crate::board::BoardError;
use crate::names::Queue;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A change of the connection of a runner to its board, see [`Runner::on_news`](super::Runner::on_news).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunnerNews {
    /// The board has accepted the runner: it claims calls from now on.
    Accepted {
        /// The queue.
        queue: Queue,
        /// The number of tools that it announces.
        tools: usize,
        /// The number of calls that run at the same time.
        slots: usize,
    },
    /// The board is out of reach. It is tried again.
    Lost(BoardError),
    /// The board is reachable again.
    Back,
}

/// Receives the news of a runner.
pub(super) type Report = dyn Fn(&RunnerNews) + Send + Sync;

/// Logs the news of a runner.
pub(super) fn log(news: &RunnerNews) {
    match news {
        RunnerNews::Accepted { queue, tools, slots } => {
            tracing::info!(%queue, tools, slots, "the runner is accepted");
        }
        RunnerNews::Lost(error) => tracing::warn!("{error}; trying again"),
        // A warning like the one that it ends, so that both are logged or none.
        RunnerNews::Back => tracing::warn!("the runner is connected again"),
    }
}

impl Inner {
    pub(super) fn report_accepted(&self) {
        let (queue, slots) = (self.queue.clone(), self.slots);
        (self.report)(&RunnerNews::Accepted { queue, tools: self.catalogue.tools(), slots });
    }

    /// Reports when the connection is lost, and when it is back.
    pub(super) async fn follow_connection(self: Arc<Self>) {
        let mut known = None;
        loop {
            let outage = self.board.next_outage(&known).await;
            match (&known, &outage) {
                (None, Some(error)) => (self.report)(&RunnerNews::Lost(error.clone())),
                (Some(_), None) => (self.report)(&RunnerNews::Back),
                _ => {}
            }
            self.is_cut_off.store(outage.is_some(), Ordering::Relaxed);
            known = outage;
        }
    }
}
