//! The state that all calls of a caller share.

use crate::board::Board;
use crate::names::StepKey;
use crate::roster::Roster;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use tool_runtime_core::seam::lock;
use tool_runtime_core::vocabulary::CancellationToken;

/// The time for which a step that waits for an answer is remembered. Later it is read from the board, if it is in an
/// execution.
const REMEMBERED: Duration = Duration::from_secs(3600);

/// The number of remembered steps from which old ones are forgotten.
const MANY: usize = 1024;

/// The treatment of a call while no runner of its queue is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nobody {
    /// It waits in the queue, until its time limit.
    #[default]
    Wait,
    /// It fails at once, as `transient`.
    Fail,
}

/// The connection of a caller.
pub(super) struct Link {
    pub(super) board: Arc<dyn Board>,
    pub(super) roster: Roster,
    pub(super) nobody: Nobody,
    /// Calls in flight.
    pub(super) permits: Semaphore,
    /// Tasks that settle calls which were given up.
    pub(super) settling: TaskTracker,
    /// Cancelled when the tools leave the pool.
    pub(super) end: CancellationToken,
    /// Futures may be dropped outside the runtime.
    pub(super) runtime: Handle,
    /// The steps whose clients were asked a question.
    suspended: Mutex<HashMap<StepKey, Suspended>>,
    /// The steps that are being given up.
    given_up: Mutex<HashMap<StepKey, watch::Receiver<()>>>,
}

/// A step whose client was asked a question.
#[derive(Clone, Copy, Debug)]
struct Suspended {
    at: Instant,
    /// The round, once it is known that it was suspended.
    round: Option<u32>,
}

/// The state from which a step is continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Continued {
    /// After this round, which was suspended: what is read may be older.
    After(u32),
    /// The state of the record.
    AsRecorded,
}

/// Ends the time in which a step is being given up.
pub(super) struct GivingUp {
    link: Arc<Link>,
    step: StepKey,
    _ended: watch::Sender<()>,
}

impl Drop for GivingUp {
    fn drop(&mut self) {
        lock(&self.link.given_up).remove(&self.step);
    }
}

impl Link {
    pub(super) fn new(
        board: Arc<dyn Board>,
        nobody: Nobody,
        in_flight: usize,
        end: CancellationToken,
    ) -> Self {
        Self {
            board,
            roster: Roster::default(),
            nobody,
            permits: Semaphore::new(in_flight),
            settling: TaskTracker::new(),
            end,
            runtime: Handle::current(),
            suspended: Mutex::default(),
            given_up: Mutex::default(),
        }
    }

    /// Remembers that a step may be continued by a later request, and the round that was suspended, once that is known.
    pub(super) fn suspend(&self, step: &StepKey, round: Option<u32>) {
        let mut suspended = lock(&self.suspended);
        if suspended.len() >= MANY {
            suspended.retain(|_, step| step.at.elapsed() < REMEMBERED);
        }
        suspended.insert(step.clone(), Suspended { at: Instant::now(), round });
    }

    /// Whether a step is continued, and how.
    pub(super) fn resume(&self, step: &StepKey) -> Option<Continued> {
        let Suspended { round, .. } = lock(&self.suspended).remove(step)?;
        Some(round.map_or(Continued::AsRecorded, Continued::After))
    }

    /// Notes that a step is being given up, until the returned value is dropped.
    pub(super) fn give_up(self: &Arc<Self>, step: &StepKey) -> GivingUp {
        let (ended, end) = watch::channel(());
        lock(&self.given_up).insert(step.clone(), end);
        GivingUp { link: Arc::clone(self), step: step.clone(), _ended: ended }
    }

    /// Waits until a step is given up by an earlier attempt: what that writes must not be about this one.
    pub(super) async fn until_given_up(&self, step: &StepKey) {
        let Some(mut end) = lock(&self.given_up).get(step).cloned() else { return };
        while end.changed().await.is_ok() {}
    }
}
