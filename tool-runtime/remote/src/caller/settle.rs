//! Calls that were given up: their records say so, and their runners learn it.

use super::link::Link;
use crate::backoff::Backoff;
use crate::board::{Board, BoardError, Swap, Topic};
use crate::keep;
use crate::message::{self, Control, Order};
use crate::names::StepKey;
use crate::outcome;
use crate::payload::Payload;
use crate::record::{Record, Revised, Revision, State};
use crate::transition::{OnGiveUp, on_give_up, on_suspend};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tool_runtime_core::vocabulary::RetryMode;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};

/// The time for which the end of a call is tried to be written.
const PATIENCE: Duration = Duration::from_secs(60);

/// A call that may be given up.
#[derive(Clone, Debug)]
pub(super) struct GiveUp {
    pub(super) step: StepKey,
    pub(super) mode: RetryMode,
    pub(super) keep: bool,
    /// When the time of the call is over.
    pub(super) until: Instant,
    /// The round that was submitted or is followed. 0: none yet.
    pub(super) round: u32,
    pub(super) tool: String,
}

/// Gives up a call whose future is dropped before its outcome.
pub(super) struct Abandoned {
    link: Arc<Link>,
    pub(super) give_up: GiveUp,
    /// Whether the client is being asked a question.
    pub(super) has_question: bool,
    is_settled: bool,
}

impl Abandoned {
    pub(super) fn new(link: &Arc<Link>, give_up: GiveUp) -> Self {
        Self { link: Arc::clone(link), give_up, has_question: false, is_settled: false }
    }

    /// The call has its outcome.
    pub(super) fn settled(&mut self) {
        self.is_settled = true;
    }

    /// Gives up the call in a task.
    pub(super) fn give_up_now(&mut self) {
        if self.is_settled || self.give_up.round == 0 {
            return;
        }
        self.is_settled = true;
        // The next attempt of an execution takes it up.
        if self.give_up.keep && self.link.end.is_cancelled() {
            return;
        }
        let (link, give_up) = (Arc::clone(&self.link), self.give_up.clone());
        let why = match (self.has_question, Instant::now() >= self.give_up.until) {
            (true, false) => Why::Question,
            (_, true) => Why::Timeout,
            (false, false) => Why::Cancelled,
        };
        if why == Why::Question {
            link.suspend(&give_up.step, None);
        }
        let giving_up = self.link.give_up(&give_up.step);
        let task = self.link.settling.track_future(async move {
            let _giving_up = giving_up;
            match timeout(PATIENCE, give_up.settle(&*link.board, why)).await {
                Ok(true) if why == Why::Question => link.suspend(&give_up.step, Some(give_up.round)),
                Ok(_) => {}
                Err(_) => {
                    tracing::warn!(step = %give_up.step, "a call that was given up could not be settled");
                }
            }
        });
        drop(self.link.runtime.spawn(task));
    }
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.give_up_now();
    }
}

/// The reason to give up a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Cancelled,
    Timeout,
    /// Its client is asked, and continues it by another request.
    Question,
}

/// The record of a step that was given up.
pub(super) enum GivenUp {
    /// Its end is written.
    Written,
    /// It was decided before, or continues elsewhere.
    Decided(Option<Revised>),
}

impl GiveUp {
    /// Writes the end until it is written or the step is decided, and tells the runner. Returns whether it is written.
    async fn settle(&self, board: &dyn Board, why: Why) -> bool {
        let mut backoff = Backoff::default();
        loop {
            match self.try_to_settle(board, why).await {
                Ok(is_written) => {
                    self.tell(board).await;
                    return is_written;
                }
                Err(error) if error.is_transient() => {
                    backoff.pause("a call that was given up cannot be settled", &error).await;
                }
                Err(error) => {
                    tracing::warn!(step = %self.step, "a call that was given up is not settled: {error}");
                    return false;
                }
            }
        }
    }

    async fn try_to_settle(&self, board: &dyn Board, why: Why) -> Result<bool, BoardError> {
        let given_up = match why {
            Why::Question => self.suspend(board).await?,
            _ => self.write(board, &self.error(why)).await?,
        };
        Ok(match given_up {
            GivenUp::Written => true,
            // The answer to an earlier write was lost.
            GivenUp::Decided(Some(now)) => now.record.is_suspended(self.round),
            GivenUp::Decided(None) => false,
        })
    }

    /// Writes an error as the end of the call.
    pub(super) async fn write(
        &self,
        board: &dyn Board,
        error: &CallError,
    ) -> Result<GivenUp, BoardError> {
        let payload = Payload::Inline(outcome::write(Err(error)));
        let end = |record: Option<&Revised>| {
            let OnGiveUp::Write(revision, was) = on_give_up(self.mode, self.round, record) else {
                return None;
            };
            let caller = board.caller();
            Some((Record::by_caller(self.round, caller, was, payload.clone()), revision))
        };
        self.write_unless_decided(board, end).await
    }

    async fn suspend(&self, board: &dyn Board) -> Result<GivenUp, BoardError> {
        let suspend = |record: Option<&Revised>| {
            let revision = on_suspend(self.mode, self.round, record)?;
            Some((Record::new(self.round, State::Suspended), revision))
        };
        self.write_unless_decided(board, suspend).await
    }

    async fn write_unless_decided(
        &self,
        board: &dyn Board,
        next: impl Fn(Option<&Revised>) -> Option<(Record, Revision)>,
    ) -> Result<GivenUp, BoardError> {
        let mut now = board.read(&self.step).await?;
        while let Some((record, expected)) = next(now.as_ref()) {
            let keep = keep(&record, self.keep, self.until - Instant::now());
            match board.swap(&self.step, &record, expected, keep).await? {
                Swap::Written(_) => return Ok(GivenUp::Written),
                Swap::Conflict(other) => now = other,
            }
        }
        Ok(GivenUp::Decided(now))
    }

    fn error(&self, why: Why) -> CallError {
        let (class, what) = match why {
            Why::Timeout => (ErrorClass::Timeout, "was stopped: its time was over"),
            _ => (ErrorClass::Cancelled, "was cancelled by its caller"),
        };
        CallError::new(class, format!("`{}` {what}", self.tool))
    }

    /// Tells the runner to look at the record. If that is lost, it looks with its next beat.
    pub(super) async fn tell(&self, board: &dyn Board) {
        let look = message::write(&Control::new(&self.step, Order::Look));
        drop(board.send(&Topic::Control(self.step.queue.clone()), look).await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, MemoryStore, StepKey};
    use tool_runtime_core::tool::StepId;

    /// What is read later may be older: a question must not be answered in a round that is over.
    #[tokio::test]
    async fn a_suspension_whose_answer_was_lost_is_known() {
        let board = Engine::new(MemoryStore::default()).board("pool1".parse().unwrap());
        let step = StepKey::new(
            "web".parse().unwrap(),
            board.caller().clone(),
            StepId::new("0123456789abcdef"),
        );
        let (mode, keep, round) = (RetryMode::AtMostOnce, false, 1);
        let (until, tool) = (Instant::now(), "pay".to_owned());
        let give_up = GiveUp { step, mode, keep, until, round, tool };
        for _ in 0..2 {
            assert_eq!(give_up.try_to_settle(&board, Why::Question).await, Ok(true));
        }
        let later = GiveUp { round: 2, ..give_up.clone() };
        assert_eq!(later.try_to_settle(&board, Why::Cancelled).await, Ok(true));
        assert_eq!(give_up.try_to_settle(&board, Why::Question).await, Ok(false), "it is over");
    }
}
