//! One call: submit it, follow it, repair what was lost, and return its outcome.

use super::link::{Continued, Nobody};
use super::questions::Questions;
use super::settle::{Abandoned, GiveUp, GivenUp};
use super::tool::RemoteTool;
use crate::backoff::{Backoff, persist};
use crate::board::{BoardError, Swap, Topic};
use crate::crash_point::crash_point;
use crate::keep;
use crate::listener::{Heard, Listener};
use crate::message::{self, About, Job, Note};
use crate::names::StepKey;
use crate::outcome;
use crate::payload::Payload;
use crate::record::{Author, Ended, Record, Revised, Revision, State};
use crate::transition::{OnBegin, OnDoubt, on_begin, on_doubt};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tool_runtime_core::tool::{Observation, ToolContext};
use tool_runtime_core::vocabulary::RetryMode;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};

/// The time without a sign of life after which the record is read.
const SILENCE: Duration = Duration::from_secs(12);

/// The time after which the record is read again: after a job was submitted anew, or while the board is away.
const SOON: Duration = Duration::from_secs(1);

/// The time that a call takes beyond its limit at most, to find out whether its outcome came first.
const GRACE: Duration = Duration::from_millis(80);

/// The time between two attempts in the time of grace.
const PAUSE: Duration = Duration::from_millis(5);

/// The outcome of a call.
type Outcome = Result<Observation, CallError>;

/// One call of a tool of runners.
pub(super) struct Attempt<'a> {
    tool: &'a RemoteTool,
    context: &'a ToolContext,
    job: Job,
    until: Instant,
    abandoned: Abandoned,
    /// When the record is read, unless something is heard.
    doubt_at: Instant,
    /// Whether the runners of the queue were asked to settle the step of a runner that is gone.
    asked_runners: bool,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(
        tool: &'a RemoteTool,
        step: StepKey,
        context: &'a ToolContext,
        job: Job,
        until: Instant,
    ) -> Self {
        let link = &tool.link;
        let give_up = GiveUp {
            step: step.clone(),
            mode: tool.mode,
            keep: job.keep,
            until,
            round: 0,
            tool: tool.name.clone(),
        };
        Self {
            tool,
            context,
            job,
            until,
            abandoned: Abandoned::new(link, give_up),
            doubt_at: Instant::now() + SILENCE,
            asked_runners: false,
        }
    }

    fn step(&self) -> &StepKey {
        &self.abandoned.give_up.step
    }

    /// Runs the call to its outcome.
    pub(super) async fn run(mut self) -> Outcome {
        if self.tool.link.nobody == Nobody::Fail && !self.is_served() {
            self.abandoned.settled();
            return Err(self.tool.transient(&self.nobody_there()));
        }
        let outcome = match timeout_at(self.until, self.begin()).await {
            Ok(Ok(Ok(listener))) => self.follow(listener).await,
            Ok(Ok(Err(outcome))) => outcome,
            Ok(Err(error)) => Err(self.refused(&error)),
            Err(_) => self.time_out().await,
        };
        self.abandoned.settled();
        outcome
    }

    /// Listens, and submits the call, unless it is under way or has an outcome.
    async fn begin(&mut self) -> Result<Result<Listener, Outcome>, BoardError> {
        let topic = Topic::Step(self.step().clone());
        let board = &self.tool.link.board;
        let listener = persist("a call waits", || board.listen(&topic)).await?;
        self.tool.link.until_given_up(self.step()).await;
        let record = match self.tool.link.resume(self.step()) {
            Some(Continued::After(round)) => {
                self.submit_persistently(round.saturating_add(1)).await?;
                return Ok(Ok(listener));
            }
            None if !self.job.keep => None,
            None | Some(Continued::AsRecorded) => self.read_persistently().await?,
        };
        match on_begin(self.tool.mode, record.as_ref().map(|revised| &revised.record)) {
            OnBegin::Submit(round) => self.submit_persistently(round).await?,
            OnBegin::Follow(round) => self.abandoned.give_up.round = round,
            OnBegin::Return(payload) => {
                return Ok(Err(self.outcome(payload, record.as_ref()).await));
            }
            OnBegin::Unknown(payload) => return Ok(Err(Err(self.given_up(payload).await))),
        }
        Ok(Ok(listener))
    }

    async fn read_persistently(&self) -> Result<Option<Revised>, BoardError> {
        let read = || self.tool.link.board.read(self.step());
        persist("a call waits", read).await
    }

    async fn submit_persistently(&mut self, round: u32) -> Result<(), BoardError> {
        let mut backoff = Backoff::default();
        loop {
            match self.submit(round).await {
                Err(error) if error.is_transient() => backoff.pause("a call waits", &error).await,
                other => return other,
            }
        }
    }

    async fn submit(&mut self, round: u32) -> Result<(), BoardError> {
        self.abandoned.give_up.round = round;
        let left = self.until.saturating_duration_since(Instant::now());
        (self.job.round, self.job.within) = (round, message::millis(left));
        // A call of an execution is wanted also if its caller is gone.
        let keep = if self.job.keep { Duration::from_secs(24 * 3600) } else { left };
        crash_point("before-submit");
        self.tool.link.board.submit(&self.tool.queue, &self.job, keep).await?;
        crash_point("after-submit");
        Ok(())
    }

    /// Follows the call to its outcome.
    async fn follow(&mut self, mut listener: Listener) -> Outcome {
        let mut questions = Questions::new(&*self.tool.link.board, self.context, self.step());
        loop {
            self.abandoned.has_question = questions.are_open();
            let next = tokio::select! {
                biased;
                heard = listener.next() => match heard {
                    Some(heard) => self.hear(heard, &mut questions).await,
                    None => self.doubt().await,
                },
                () = questions.attend() => None,
                () = sleep_until(self.until) => Some(self.time_out().await),
                () = sleep_until(self.doubt_at) => self.doubt().await,
            };
            if let Some(outcome) = next {
                return outcome;
            }
        }
    }

    async fn hear(&mut self, heard: Heard, questions: &mut Questions<'_>) -> Option<Outcome> {
        match heard {
            Heard::Record(revised) => self.react(Some(*revised)).await,
            Heard::Gap => self.doubt().await,
            Heard::Message(bytes) => {
                match message::read::<Note>("a note", &bytes) {
                    Ok(note) => self.note(note, questions),
                    Err(problem) => tracing::warn!(tool = self.tool.name, "{problem}"),
                }
                None
            }
        }
    }

    fn note(&mut self, note: Note, questions: &mut Questions<'_>) {
        if note.round != self.abandoned.give_up.round {
            return;
        }
        self.doubt_at = Instant::now() + SILENCE;
        match note.about {
            About::Alive | About::Unknown => {}
            About::Progress(progress) => {
                let message = progress.message.unwrap_or_default();
                self.context.progress(progress.done, progress.total, message);
            }
            About::Log { level, data } => self.context.log_data(level, data),
            About::Ask(question) => questions.ask(question),
        }
    }

    /// Reads the record, and does what follows.
    async fn doubt(&mut self) -> Option<Outcome> {
        match timeout_at(self.until, self.tool.link.board.read(self.step())).await {
            Ok(Ok(record)) => self.react(record).await,
            Ok(Err(error)) if error.is_transient() => {
                self.doubt_at = Instant::now() + SOON;
                None
            }
            Ok(Err(error)) => Some(Err(self.lost(&error))),
            Err(_) => None,
        }
    }

    /// Does what follows from the record.
    async fn react(&mut self, mut record: Option<Revised>) -> Option<Outcome> {
        self.doubt_at = Instant::now() + SILENCE;
        loop {
            let round = self.abandoned.give_up.round;
            let holder = |runner: &_| self.tool.link.roster.holder(runner);
            match on_doubt(self.tool.mode, round, record.as_ref(), holder) {
                OnDoubt::Wait => return None,
                OnDoubt::Return(payload) => {
                    return Some(self.outcome(payload, record.as_ref()).await);
                }
                OnDoubt::Submit(round) => return self.submit_again(round).await,
                // The log of another runner may have the outcome.
                OnDoubt::Settle(_) if self.is_served() && !self.asked_runners => {
                    self.asked_runners = true;
                    return self.submit_again(round).await;
                }
                OnDoubt::Settle(revision) => match self.settle(record.as_ref(), revision).await {
                    Settled::Lives => return None,
                    Settled::Over(outcome) => return Some(outcome),
                    Settled::Changed(now) => record = now,
                },
            }
        }
    }

    async fn submit_again(&mut self, round: u32) -> Option<Outcome> {
        if self.tool.link.nobody == Nobody::Fail && !self.is_served() {
            return Some(Err(self.tool.transient(&self.nobody_there())));
        }
        self.doubt_at = Instant::now() + SOON;
        match timeout_at(self.until, self.submit(round)).await {
            // While it is queued, nothing is heard of it. A full queue may have it.
            Ok(Ok(()) | Err(BoardError::Full(_))) => {
                self.doubt_at = Instant::now() + SILENCE;
                None
            }
            Ok(Err(error)) if !error.is_transient() => Some(Err(self.lost(&error))),
            _ => None,
        }
    }

    /// The outcome of a call that was submitted, of which nothing more can be learned.
    fn lost(&mut self, error: &BoardError) -> CallError {
        self.abandoned.give_up_now();
        let tool = &self.tool.name;
        match self.tool.mode {
            RetryMode::SafeToRetry => {
                self.tool.transient(&format!("its outcome cannot be learned: {error}"))
            }
            _ => CallError::new(
                ErrorClass::Indeterminate,
                format!(
                    "`{tool}` may have run, and its outcome cannot be learned: {error}; check whether it had its effect before you call it again"
                ),
            ),
        }
    }

    /// Writes that the outcome is unknown, if the runner that started the step is gone.
    async fn settle(&mut self, record: Option<&Revised>, revision: Revision) -> Settled {
        let link = &self.tool.link;
        let Some(runner) = record.and_then(|revised| revised.record.runner()) else {
            return Settled::Lives;
        };
        let gone = timeout_at(self.until, link.roster.is_gone(runner, &*link.board));
        if !gone.await.unwrap_or_default() {
            return Settled::Lives;
        }
        let error = outcome::unknown(&self.tool.name, runner);
        let payload = Payload::Inline(outcome::write(Err(&error)));
        let round = record.map_or(1, |revised| revised.record.round);
        let settled = Record::by_caller(round, link.board.caller(), Ended::Started, payload);
        let keep = keep(&settled, self.job.keep, self.until - Instant::now());
        match link.board.swap(self.step(), &settled, revision, keep).await {
            Ok(Swap::Written(_)) => Settled::Over(Err(error)),
            Ok(Swap::Conflict(now)) => Settled::Changed(now),
            Err(_) => {
                self.doubt_at = Instant::now() + SOON;
                Settled::Lives
            }
        }
    }

    /// The time is over. The outcome counts if it is written already; else the timeout is.
    async fn time_out(&mut self) -> Outcome {
        let timeout = self.tool.timed_out(&self.why_late());
        if self.abandoned.give_up.round == 0 {
            return Err(timeout);
        }
        let decided = async {
            loop {
                match self.decide_timeout(&timeout).await {
                    Err(error) if error.is_transient() => sleep(PAUSE).await,
                    decided => return decided,
                }
            }
        };
        match timeout_at(self.until + GRACE, decided).await {
            Ok(Ok(outcome)) => outcome,
            // The board is away, or does not answer: it is settled when it does.
            Ok(Err(_)) | Err(_) => {
                self.abandoned.give_up_now();
                Err(timeout)
            }
        }
    }

    async fn decide_timeout(&self, timeout: &CallError) -> Result<Outcome, BoardError> {
        let give_up = &self.abandoned.give_up;
        let board = &*self.tool.link.board;
        let record = match give_up.write(board, timeout).await? {
            GivenUp::Written => {
                give_up.tell(board).await;
                return Ok(Err(CallError::new(timeout.class(), timeout.message())));
            }
            GivenUp::Decided(record) => record,
        };
        Ok(match record.as_ref().and_then(|it| it.record.outcome().cloned()) {
            Some(payload) => self.outcome(payload, record.as_ref()).await,
            None => Err(self.tool.timed_out("another attempt continues it")),
        })
    }

    async fn outcome(&self, payload: Payload, record: Option<&Revised>) -> Outcome {
        let author = record.and_then(|revised| match &revised.record.state {
            State::Done { by: Author::Runner(runner), .. } => {
                Some((runner.as_str(), revised.record.round))
            }
            _ => None,
        });
        let outcome = timeout_at(self.until + GRACE, self.tool.outcome(payload, author));
        outcome.await.unwrap_or_else(|_| Err(self.tool.timed_out("its result could not be read")))
    }

    /// What an attempt returns after one that gave up while the tool ran. That one may have found out why the outcome is unknown.
    async fn given_up(&self, payload: Payload) -> CallError {
        match self.outcome(payload, None).await {
            Err(error) if error.class() == ErrorClass::Indeterminate => error,
            _ => self.unknown(),
        }
    }

    fn unknown(&self) -> CallError {
        let text = format!(
            "an earlier attempt started `{}` and gave up; check whether it had its effect before you call it again",
            self.tool.name
        );
        CallError::new(ErrorClass::Indeterminate, text)
    }

    fn refused(&self, error: &BoardError) -> CallError {
        match error {
            BoardError::Full(reason) => {
                let text =
                    format!("`{}` was not called: {reason}; try again later", self.tool.name);
                CallError::new(ErrorClass::RateLimited, text)
            }
            BoardError::Refused(_) => {
                let text = format!("`{}` could not be called: {error}", self.tool.name);
                CallError::new(ErrorClass::Denied, text)
            }
            error => self.tool.transient(&error.to_string()),
        }
    }

    fn is_served(&self) -> bool {
        self.tool.link.roster.serves(&self.tool.queue)
    }

    fn nobody_there(&self) -> String {
        format!("no runner of queue `{}` is there", self.tool.queue)
    }

    fn why_late(&self) -> String {
        match self.is_served() {
            true => format!("queue `{}` did not answer in time", self.tool.queue),
            false => self.nobody_there(),
        }
    }
}

/// The result of an attempt to settle a step.
enum Settled {
    /// Its runner lives, as far as known.
    Lives,
    /// It has its outcome.
    Over(Outcome),
    /// The record is another one now.
    Changed(Option<Revised>),
}
