//! The board of a runner: it learns the runner's id, and can leave out the write on which at most once depends.

use crate::Failure;
use crate::runner::Effects;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashSet;
use std::env;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tool_runtime::BoxFuture;
use tool_runtime::tool::StepId;
use tool_runtime_remote::{
    Author, BlobRef, Board, BoardError, BoardState, CallerName, Claim, Depth, Ended, Job, Json,
    Listener, Payload, Queue, Reach, Record, Revised, Revision, RunnerId, State, StepKey, Swap,
    Topic,
};

/// What keeps a tool that may run at most once from running twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    /// The record.
    Record,
    /// The number of deliveries of the job: the first one runs it and asks for no record, a later one ends it. A negative
    /// control.
    Deliveries,
    /// Nothing: a negative control.
    None,
}

impl Fence {
    /// The fence that `REMOTE_CHAOS_FENCE` names.
    pub(crate) fn of_environment() -> Result<Self, Failure> {
        match env::var("REMOTE_CHAOS_FENCE").ok().as_deref() {
            None => Ok(Self::Record),
            Some("deliveries") => Ok(Self::Deliveries),
            Some("none") => Ok(Self::None),
            Some(other) => Err(format!("`{other}` is no fence").into()),
        }
    }
}

pub(crate) struct Fenced {
    board: Box<dyn Board>,
    effects: Arc<Effects>,
    fence: Fence,
    /// The steps whose jobs were delivered again.
    repeated: Mutex<HashSet<StepId>>,
}

/// The part of a presence that names its runner.
#[derive(Deserialize)]
struct Presence {
    runner: String,
}

impl Fenced {
    pub(crate) fn new(board: Box<dyn Board>, effects: Arc<Effects>, fence: Fence) -> Self {
        Self { board, effects, fence, repeated: Mutex::default() }
    }

    fn note(&self, claim: &dyn Claim) {
        if claim.is_repeated() {
            let step = claim.job().step().clone();
            self.repeated.lock().unwrap_or_else(PoisonError::into_inner).insert(step);
        }
    }

    fn is_repeated(&self, step: &StepId) -> bool {
        self.repeated.lock().unwrap_or_else(PoisonError::into_inner).contains(step)
    }

    /// What the control that counts deliveries does instead of the start mark.
    async fn by_deliveries(
        &self,
        step: &StepKey,
        (runner, round): (&RunnerId, u32),
        (expected, keep): (Revision, Duration),
    ) -> Result<Swap, BoardError> {
        if !self.is_repeated(&step.step) {
            return Ok(Swap::Written(expected));
        }
        let text = format!("`{runner}` does not know whether an earlier delivery ran it");
        let error = json!({ "error": { "class": "indeterminate", "message": text } });
        let record = Record::new(
            round,
            State::Done {
                by: Author::Runner(runner.clone()),
                was: Ended::Started,
                ran: None,
                outcome: Payload::Inline(Json::from_value(&error)),
            },
        );
        match self.board.swap(step, &record, expected, keep).await? {
            Swap::Written(revision) => Ok(Swap::Conflict(Some(Revised { record, revision }))),
            conflict => Ok(conflict),
        }
    }
}

impl Board for Fenced {
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Revised>, BoardError>> {
        if self.fence == Fence::Deliveries && !self.is_repeated(&step.step) {
            return Box::pin(async { Ok(None) });
        }
        self.board.read(step)
    }

    fn swap<'a>(
        &'a self,
        step: &'a StepKey,
        record: &'a Record,
        expected: Revision,
        keep: Duration,
    ) -> BoxFuture<'a, Result<Swap, BoardError>> {
        if let State::Started { runner } = &record.state {
            self.effects.note_runner(runner.as_str());
            match self.fence {
                Fence::Record => {}
                Fence::None => return Box::pin(async move { Ok(Swap::Written(expected)) }),
                Fence::Deliveries => {
                    let round = record.round;
                    return Box::pin(self.by_deliveries(step, (runner, round), (expected, keep)));
                }
            }
        }
        self.board.swap(step, record, expected, keep)
    }

    fn submit<'a>(
        &'a self,
        queue: &'a Queue,
        job: &'a Job,
        keep: Duration,
    ) -> BoxFuture<'a, Result<(), BoardError>> {
        self.board.submit(queue, job, keep)
    }

    fn claim<'a>(
        &'a self,
        queue: &'a Queue,
        max: usize,
    ) -> BoxFuture<'a, Result<Vec<Box<dyn Claim>>, BoardError>> {
        Box::pin(async move {
            let claims = self.board.claim(queue, max).await?;
            claims.iter().for_each(|claim| self.note(&**claim));
            Ok(claims)
        })
    }

    fn end_claims<'a>(&'a self, queue: &'a Queue) -> BoxFuture<'a, bool> {
        self.board.end_claims(queue)
    }

    fn send<'a>(
        &'a self,
        to: &'a Topic,
        message: Bytes,
    ) -> BoxFuture<'a, Result<Reach, BoardError>> {
        if matches!(to, Topic::Presence(_))
            && let Ok(Presence { runner }) = serde_json::from_slice(&message)
        {
            self.effects.note_runner(&runner);
        }
        self.board.send(to, message)
    }

    fn listen<'a>(&'a self, topic: &'a Topic) -> BoxFuture<'a, Result<Listener, BoardError>> {
        self.board.listen(topic)
    }

    fn put(&self, bytes: Bytes) -> BoxFuture<'_, Result<BlobRef, BoardError>> {
        self.board.put(bytes)
    }

    fn get<'a>(&'a self, blob: &'a BlobRef) -> BoxFuture<'a, Result<Bytes, BoardError>> {
        self.board.get(blob)
    }

    fn state(&self) -> BoxFuture<'_, Result<BoardState, BoardError>> {
        self.board.state()
    }

    fn depth<'a>(&'a self, queue: &'a Queue) -> BoxFuture<'a, Result<Depth, BoardError>> {
        self.board.depth(queue)
    }

    fn next_outage<'a>(
        &'a self,
        known: &'a Option<BoardError>,
    ) -> BoxFuture<'a, Option<BoardError>> {
        self.board.next_outage(known)
    }

    fn caller(&self) -> &CallerName {
        self.board.caller()
    }

    fn address(&self) -> String {
        self.board.address()
    }

    fn is_confidential(&self) -> bool {
        self.board.is_confidential()
    }
}
