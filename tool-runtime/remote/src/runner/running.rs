//! The calls that run, and what others tell about them.

use crate::message::{Control, Order};
use crate::names::{CallerName, StepKey};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use tokio::sync::{Notify, oneshot};
use tool_runtime_core::seam::lock;
use tool_runtime_core::tool::StepId;
use tool_runtime_core::tool::peer::PeerError;
use tool_runtime_core::vocabulary::CancellationToken;

/// The reason for which a call is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Its record says that it was decided without this runner.
    Decided,
    /// Its caller is gone.
    CallerGone,
    /// The runner ends.
    Shutdown,
}

/// The calls that run, by their steps.
#[derive(Debug, Default)]
pub(super) struct RunningJobs(Mutex<HashMap<Id, Arc<Running>>>);

/// The caller of a step, and its id.
type Id = (CallerName, StepId);

/// A call that runs.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) round: u32,
    /// Cancels the tool.
    pub(super) token: CancellationToken,
    stop: OnceLock<Stop>,
    /// The record is to be looked at.
    pub(super) look: Notify,
    /// Questions without an answer, by their ids.
    answers: Mutex<HashMap<String, oneshot::Sender<Answer>>>,
}

/// The answer to a question.
pub(super) type Answer = Result<Value, PeerError>;

/// Removes a call when it has ended.
pub(super) struct Entered<'a> {
    jobs: &'a RunningJobs,
    id: Id,
    running: Arc<Running>,
}

impl RunningJobs {
    /// Enters a call.
    ///
    /// # Errors
    /// The step runs here already, in this round.
    pub(super) fn enter(&self, step: &StepKey, round: u32) -> Result<Entered<'_>, u32> {
        let id = (step.caller.clone(), step.step.clone());
        let mut jobs = lock(&self.0);
        if let Some(running) = jobs.get(&id) {
            return Err(running.round);
        }
        let running = Arc::new(Running {
            round,
            token: CancellationToken::new(),
            stop: OnceLock::new(),
            look: Notify::new(),
            answers: Mutex::default(),
        });
        jobs.insert(id.clone(), Arc::clone(&running));
        Ok(Entered { jobs: self, id, running })
    }

    /// The number of calls that run.
    pub(super) fn count(&self) -> usize {
        lock(&self.0).len()
    }

    /// Passes an order on to the call that it is about, if that runs here.
    pub(super) fn pass_on(&self, control: Control) {
        let Control { caller, step, order, .. } = control;
        let id = (caller, step);
        let Some(running) = lock(&self.0).get(&id).cloned() else { return };
        match order {
            Order::Look => running.look.notify_one(),
            Order::Answer { id, result, error } => {
                let Some(asked) = lock(&running.answers).remove(&id) else { return };
                let failed = || PeerError::Failed(error.unwrap_or_else(|| "no answer".to_owned()));
                // The tool may have ended meanwhile.
                let _ = asked.send(result.ok_or_else(failed));
            }
            Order::Unknown => tracing::debug!(step = %id.1, "an unknown order"),
        }
    }

    /// Lets all calls look at their records.
    pub(super) fn look_all(&self) {
        lock(&self.0).values().for_each(|running| running.look.notify_one());
    }

    /// Stops all calls.
    pub(super) fn stop_all(&self, why: Stop) {
        lock(&self.0).values().for_each(|running| running.stop(why));
    }
}

impl Running {
    /// Stops the call. The first reason counts.
    pub(super) fn stop(&self, why: Stop) {
        let _ = self.stop.set(why);
        self.token.cancel();
    }

    /// The reason for which the call was stopped.
    pub(super) fn stopped(&self) -> Option<Stop> {
        self.stop.get().copied()
    }

    /// Waits for the answer to a question.
    pub(super) fn expect_answer(&self, id: &str) -> oneshot::Receiver<Answer> {
        let (sender, receiver) = oneshot::channel();
        lock(&self.answers).insert(id.to_owned(), sender);
        receiver
    }

    pub(super) fn forget_answer(&self, id: &str) {
        lock(&self.answers).remove(id);
    }
}

impl std::ops::Deref for Entered<'_> {
    type Target = Arc<Running>;

    fn deref(&self) -> &Arc<Running> {
        &self.running
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        lock(&self.jobs.0).remove(&self.id);
    }
}
