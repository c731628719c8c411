//! The interface of an engine: records, queues, messages and blobs.

use crate::listener::Listener;
use crate::message::Job;
use crate::names::{CallerName, Queue, StepKey};
use crate::payload::BlobRef;
use crate::record::{Record, Revised, Revision};
use bytes::Bytes;
use std::future::pending;
use std::time::Duration;
use tool_runtime_core::vocabulary::BoxFuture;

/// The engine between callers and runners.
///
/// Only [`swap`](Self::swap) promises anything: a durable compare-and-set for each step. Everything else may be lost or
/// doubled, and what is read may be out of date; callers and runners repair that by reading the record and trying again.
/// A board reconnects by itself; until then its methods fail with [`BoardError::Disconnected`].
pub trait Board: Send + Sync + 'static {
    /// The record of a step, or none. It may be an earlier one.
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Revised>, BoardError>>;

    /// Writes a record if the present one still has the revision `expected` ([`Revision::NONE`]: if there is none), and keeps
    /// it for `keep`. A write whose answer was lost is recognised by the record's nonce.
    fn swap<'a>(
        &'a self,
        step: &'a StepKey,
        record: &'a Record,
        expected: Revision,
        keep: Duration,
    ) -> BoxFuture<'a, Result<Swap, BoardError>>;

    /// Queues a job. Does nothing if the same round of the step is queued or claimed already. The job leaves the queue after
    /// `keep`.
    fn submit<'a>(
        &'a self,
        queue: &'a Queue,
        job: &'a Job,
        keep: Duration,
    ) -> BoxFuture<'a, Result<(), BoardError>>;

    /// Waits for jobs of a queue and claims up to `max`, at least one. Dropping the future claims none. A claim that is not
    /// renewed for [`LEASE`](crate::LEASE) lapses, and its job is queued again.
    fn claim<'a>(
        &'a self,
        queue: &'a Queue,
        max: usize,
    ) -> BoxFuture<'a, Result<Vec<Box<dyn Claim>>, BoardError>>;

    /// Ends [`Self::claim`] in order: what waits returns soon, with jobs that were claimed already, or none. Returns false if
    /// the board needs no such end, because no job can be on its way to a future that is dropped.
    fn end_claims<'a>(&'a self, queue: &'a Queue) -> BoxFuture<'a, bool>;

    /// Sends a message, which may be lost.
    fn send<'a>(
        &'a self,
        to: &'a Topic,
        message: Bytes,
    ) -> BoxFuture<'a, Result<Reach, BoardError>>;

    /// The messages of a topic from now on, and on [`Topic::Step`] each record that is written.
    fn listen<'a>(&'a self, topic: &'a Topic) -> BoxFuture<'a, Result<Listener, BoardError>>;

    /// Stores bytes for a day, by their SHA-256.
    fn put(&self, bytes: Bytes) -> BoxFuture<'_, Result<BlobRef, BoardError>>;

    /// The bytes of a blob. Their size and digest are checked.
    fn get<'a>(&'a self, blob: &'a BlobRef) -> BoxFuture<'a, Result<Bytes, BoardError>>;

    /// The state of the engine, for operators.
    fn state(&self) -> BoxFuture<'_, Result<BoardState, BoardError>>;

    /// The jobs of a queue.
    fn depth<'a>(&'a self, queue: &'a Queue) -> BoxFuture<'a, Result<Depth, BoardError>>;

    /// Waits until the engine is out of reach for another reason than `known`, or reachable again (`None`), as far as the
    /// listeners notice. Default: waits for ever.
    fn next_outage<'a>(
        &'a self,
        _known: &'a Option<BoardError>,
    ) -> BoxFuture<'a, Option<BoardError>> {
        Box::pin(pending())
    }

    /// Whether the credentials of this caller let it call the tools of any queue, as far as the board knows. Default: true.
    fn may_call(&self) -> bool {
        true
    }

    /// The name by which the board knows this caller.
    fn caller(&self) -> &CallerName;

    /// The address, for messages and logs, without credentials.
    fn address(&self) -> String;

    /// Whether nobody between this process and the engine can read what is sent: by TLS, or on one machine.
    fn is_confidential(&self) -> bool;
}

/// One delivery of a job.
pub trait Claim: Send + Sync {
    /// The job.
    fn job(&self) -> &Job;

    /// The caller that queued it, as the board authenticated it.
    fn caller(&self) -> &CallerName;

    /// Whether the job was claimed before.
    fn is_repeated(&self) -> bool;

    /// Keeps the claim for another [`LEASE`](crate::LEASE).
    fn renew(&self) -> BoxFuture<'_, Result<(), BoardError>>;

    /// Removes the job.
    fn finish(&self) -> BoxFuture<'_, Result<(), BoardError>>;

    /// Queues the job again after a while.
    fn later(&self, delay: Duration) -> BoxFuture<'_, Result<(), BoardError>>;
}

/// The answer to [`Board::swap`].
#[derive(Clone, Debug, PartialEq)]
pub enum Swap {
    /// The record is written, and has this revision.
    Written(Revision),
    /// There is another record, or none any more.
    Conflict(Option<Revised>),
}

impl Swap {
    /// A conflict with the record itself is a write whose answer was lost.
    pub(crate) fn recognised(self, record: &Record) -> Self {
        match self {
            Self::Conflict(Some(present)) if present.record.nonce == record.nonce => {
                Self::Written(present.revision)
            }
            swap => swap,
        }
    }
}

/// Whether a message may have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Somebody listens.
    Somebody,
    /// Nobody listens.
    Nobody,
}

/// A topic of messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Topic {
    /// One step: notes of its runner, and its records.
    Step(StepKey),
    /// The runners of a queue: what callers tell them about steps.
    Control(Queue),
    /// The presence of the runners of a queue.
    Presence(Queue),
    /// The presence of the runners of all queues. For listening only.
    AllPresence,
    /// All runners: a caller asks who is there.
    Roll,
}

/// The state of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BoardState {
    /// The queues with jobs, of those that this caller or runner may use.
    pub queues: Vec<Queue>,
    /// The problems of the engine: records cannot be written.
    pub problems: Vec<String>,
    /// What the engine cannot see of itself, and an operator has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The jobs of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Depth {
    /// The number of jobs that wait.
    pub queued: u64,
    /// The number of claimed jobs.
    pub claimed: u64,
    /// The age of the oldest waiting job, in milliseconds.
    pub oldest: Option<u64>,
}

/// The reason why a board did not do something.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    /// The engine is not reachable at the moment.
    #[error("{0}")]
    Disconnected(String),
    /// The caller has too many jobs in the queue.
    #[error("{0}")]
    Full(String),
    /// The engine does not allow it, or it is not valid: trying again does not help.
    #[error("{0}")]
    Refused(String),
    /// The blob does not exist any more.
    #[error("blob {0} does not exist, or not any more")]
    NoBlob(String),
    /// The claim has lapsed.
    #[error("the claim has lapsed")]
    Lapsed,
    /// The answer of the engine is not usable.
    #[error("{0}")]
    Damaged(String),
}

tool_runtime_core::debug_as_message!(BoardError);

impl BoardError {
    /// Whether the same may work later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Disconnected(_))
    }
}
