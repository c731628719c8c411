//! Calls that are interrupted for a question, and continued when a later request brings the answer.

use super::governors::Governors;
use super::step::Step;
use crate::govern::hook::HookCall;
use crate::vocabulary::sync::lock;
use hashbrown::HashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// The governed calls of one request of a client that sends it again with the answers to questions:
/// all rounds of a call are one call, with one reservation, one approval and one record.
///
/// Dropping this ends the calls that wait in it, as cancelled.
#[derive(Default)]
pub struct CallRounds {
    /// By the prefix of their questions: nested calls have prefixes of their own.
    waiting: Mutex<HashMap<String, Step, foldhash::fast::RandomState>>,
    is_interrupted: AtomicBool,
    is_used: AtomicBool,
    /// Whether a call ended whose effect must not happen twice.
    has_effect: AtomicBool,
    /// The number of calls that run. Those in tasks of their own are dropped after the request is.
    running: AtomicUsize,
    settled: Notify,
}

impl CallRounds {
    /// Whether a governed call belongs to the request.
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// Whether a call of the request has had an effect that must not happen twice. The request must not
    /// be interrupted then: all its calls would run again.
    pub fn has_effect(&self) -> bool {
        self.has_effect.load(Ordering::Acquire)
    }

    /// Keeps the calls that are dropped from now on for the next round.
    pub fn interrupt(&self) {
        self.is_interrupted.store(true, Ordering::Release);
    }

    /// Waits until the calls of the round have ended or are kept.
    pub async fn settled(&self) {
        loop {
            let settled = self.settled.notified();
            if self.running.load(Ordering::Acquire) == 0 {
                return;
            }
            settled.await;
        }
    }

    /// Begins the next round.
    pub fn resume(&self) {
        self.is_interrupted.store(false, Ordering::Release);
    }
}

impl fmt::Debug for CallRounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallRounds").field("is_used", &self.is_used()).finish_non_exhaustive()
    }
}

/// A step that outlives its future if that is interrupted for a question.
pub(crate) struct OpenStep {
    /// `None` once it is kept for the next round.
    step: Option<Step>,
    rounds: Option<(Arc<CallRounds>, String)>,
}

impl OpenStep {
    /// Continues the step of an earlier round, or else proposes the call.
    pub(crate) fn enter(governors: Arc<Governors>, call: HookCall) -> Self {
        let context = call.context();
        // A tool that resumes is asked about the same step in each round.
        let is_kept = !governors.is_empty() || call.tool().resumes();
        let rounds = context.rounds::<CallRounds>().filter(|_| is_kept);
        let rounds = rounds.map(|rounds| (rounds, context.question_key("").into_owned()));
        let waiting = rounds.as_ref().and_then(|(rounds, key)| {
            rounds.is_used.store(true, Ordering::Release);
            rounds.running.fetch_add(1, Ordering::AcqRel);
            lock(&rounds.waiting).remove(key)
        });
        let step = match waiting.filter(|waiting| waiting.is_continued_by(&call)) {
            Some(mut step) => {
                step.resume(call);
                step
            }
            None => Step::propose(governors, call),
        };
        Self { step: Some(step), rounds }
    }

    /// Proposes a call that is rejected at once: it is not one that waits for an answer.
    pub(crate) fn enter_rejected(governors: Arc<Governors>, call: HookCall) -> Self {
        Self { step: Some(Step::propose(governors, call)), rounds: None }
    }
}

impl Deref for OpenStep {
    type Target = Step;

    fn deref(&self) -> &Step {
        self.step.as_ref().expect("a step is kept when its guard is dropped")
    }
}

impl DerefMut for OpenStep {
    fn deref_mut(&mut self) -> &mut Step {
        self.step.as_mut().expect("a step is kept when its guard is dropped")
    }
}

impl Drop for OpenStep {
    fn drop(&mut self) {
        let Some((rounds, key)) = self.rounds.take() else { return };
        if let Some(mut step) = self.step.take() {
            if step.had_effect() {
                rounds.has_effect.store(true, Ordering::Release);
            } else if !step.is_finished() && rounds.is_interrupted.load(Ordering::Acquire) {
                step.suspend();
                lock(&rounds.waiting).insert(key, step);
            }
        }
        if rounds.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            rounds.settled.notify_waiters();
        }
    }
}
