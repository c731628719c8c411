//! A board inside this process: queues and topics in memory, records and blobs in a store.

mod callers;
mod memory;
mod queues;
#[cfg(feature = "hub")]
mod sqlite;
mod topics;

use callers::Callers;
#[cfg(feature = "hub")]
pub(crate) use callers::StepNews;
pub use memory::MemoryStore;
use queues::Queues;
#[cfg(feature = "hub")]
pub use sqlite::SqliteStore;
pub(crate) use topics::Topics;

use crate::LEASE;
use crate::board::{Board, BoardError, BoardState, Claim, Depth, Reach, Swap, Topic};
use crate::listener::{Heard, Listener};
use crate::message::Job;
use crate::names::{CallerName, Queue, StepKey};
use crate::payload::BlobRef;
use crate::record::{Record, Revised, Revision};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_core::vocabulary::BoxFuture;

/// The engine of [`LocalBoard`]s: what they share.
///
/// Queues and messages are in memory and end with the process; what has to last is in the store.
///
/// ```
/// use tool_runtime_remote::{Engine, MemoryStore};
///
/// let engine = Engine::new(MemoryStore::default());
/// let (caller, runner) = (engine.board("pool1".parse()?), engine.board("runner1".parse()?));
/// # drop((caller, runner));
/// # Ok::<(), tool_runtime_remote::NameError>(())
/// ```
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    store: Box<dyn RecordStore>,
    queues: Queues,
    topics: Topics,
    callers: Callers,
}

/// A store of records and blobs, which have to last.
pub trait RecordStore: Send + Sync + 'static {
    /// The record of a step.
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Revised>, BoardError>>;

    /// Writes a record of a step if the present revision is `expected`, for as long as `keep`.
    fn swap<'a>(
        &'a self,
        step: &'a StepKey,
        record: &'a Record,
        expected: Revision,
        keep: Duration,
    ) -> BoxFuture<'a, Result<Swap, BoardError>>;

    /// Stores bytes for a day.
    fn put(&self, blob: BlobRef, bytes: Bytes) -> BoxFuture<'_, Result<(), BoardError>>;

    /// The bytes of a blob.
    fn get<'a>(&'a self, blob: &'a BlobRef) -> BoxFuture<'a, Result<Bytes, BoardError>>;

    /// The reason why the last record or blob could not be written.
    fn problem(&self) -> Option<String>;
}

impl Engine {
    /// An engine over a store.
    pub fn new(store: impl RecordStore) -> Self {
        Self::with_lease(store, LEASE)
    }

    /// An engine whose claims lapse after another time.
    pub(crate) fn with_lease(store: impl RecordStore, lease: Duration) -> Self {
        Self(Arc::new(Inner {
            store: Box::new(store),
            queues: Queues::new(lease),
            topics: Topics::default(),
            callers: Callers::default(),
        }))
    }

    /// A board for a caller or a runner of this process.
    pub fn board(&self, name: CallerName) -> LocalBoard {
        LocalBoard { engine: self.clone(), name }
    }

    /// The events of the steps of a caller from now on.
    #[cfg(feature = "hub")]
    pub(crate) fn listen_to_own(
        &self,
        caller: &CallerName,
    ) -> tokio::sync::broadcast::Receiver<StepNews> {
        self.0.callers.listen(caller)
    }

    /// Passes on what is heard about a step to its caller, and to those of this process who listen.
    fn say(&self, step: &StepKey, heard: &Heard) -> Reach {
        let here = self.0.topics.say(&Topic::Step(step.clone()), heard);
        let there = self.0.callers.say(step, heard);
        if there == Reach::Somebody { there } else { here }
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// A board of an [`Engine`] of this process, for one caller or runner.
#[derive(Clone, Debug)]
pub struct LocalBoard {
    engine: Engine,
    name: CallerName,
}

impl LocalBoard {
    fn shared(&self) -> &Inner {
        &self.engine.0
    }
}

impl Board for LocalBoard {
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Revised>, BoardError>> {
        Box::pin(async { self.shared().store.read(step).await })
    }

    fn swap<'a>(
        &'a self,
        step: &'a StepKey,
        record: &'a Record,
        expected: Revision,
        keep: Duration,
    ) -> BoxFuture<'a, Result<Swap, BoardError>> {
        Box::pin(async move {
            let swap = self.shared().store.swap(step, record, expected, keep).await?;
            let swap = swap.recognised(record);
            if let Swap::Written(revision) = swap {
                let heard = Heard::Record(Box::new(Revised { record: record.clone(), revision }));
                self.engine.say(step, &heard);
            }
            Ok(swap)
        })
    }

    fn submit<'a>(
        &'a self,
        queue: &'a Queue,
        job: &'a Job,
        keep: Duration,
    ) -> BoxFuture<'a, Result<(), BoardError>> {
        Box::pin(async move { self.shared().queues.submit(queue, job, &self.name, keep) })
    }

    fn claim<'a>(
        &'a self,
        queue: &'a Queue,
        max: usize,
    ) -> BoxFuture<'a, Result<Vec<Box<dyn Claim>>, BoardError>> {
        Box::pin(async move { Ok(queues::claim(&self.shared().queues, queue, max).await) })
    }

    fn end_claims<'a>(&'a self, _queue: &'a Queue) -> BoxFuture<'a, bool> {
        Box::pin(async { false })
    }

    fn send<'a>(
        &'a self,
        to: &'a Topic,
        message: Bytes,
    ) -> BoxFuture<'a, Result<Reach, BoardError>> {
        Box::pin(async move {
            let heard = Heard::Message(message);
            match to {
                Topic::Step(step) => Ok(self.engine.say(step, &heard)),
                _ => Ok(self.shared().topics.say(to, &heard)),
            }
        })
    }

    fn listen<'a>(&'a self, topic: &'a Topic) -> BoxFuture<'a, Result<Listener, BoardError>> {
        Box::pin(async move { Ok(self.shared().topics.listen(topic)) })
    }

    fn put(&self, bytes: Bytes) -> BoxFuture<'_, Result<BlobRef, BoardError>> {
        Box::pin(async move {
            let blob = BlobRef::from_bytes(&bytes);
            self.shared().store.put(blob.clone(), bytes).await?;
            Ok(blob)
        })
    }

    fn get<'a>(&'a self, blob: &'a BlobRef) -> BoxFuture<'a, Result<Bytes, BoardError>> {
        Box::pin(async move {
            let bytes = self.shared().store.get(blob).await?;
            blob.check(bytes).map_err(BoardError::Damaged)
        })
    }

    fn state(&self) -> BoxFuture<'_, Result<BoardState, BoardError>> {
        Box::pin(async move {
            let Inner { store, queues, .. } = self.shared();
            let problems = store.problem().into_iter().collect();
            Ok(BoardState { queues: queues.in_use(), problems, notes: Vec::new() })
        })
    }

    fn depth<'a>(&'a self, queue: &'a Queue) -> BoxFuture<'a, Result<Depth, BoardError>> {
        Box::pin(async move { Ok(self.shared().queues.depth(queue)) })
    }

    fn caller(&self) -> &CallerName {
        &self.name
    }

    fn address(&self) -> String {
        "this process".to_owned()
    }

    fn is_confidential(&self) -> bool {
        true
    }
}
