//! A board inside of this process: queues and topics in memory, records and blobs in a store.

mod memory;
mod owners;
mod queues;
#[cfg(feature = "hub")]
mod sqlite;
mod topics;

pub use memory::MemoryStore;
use owners::Owners;
#[cfg(feature = "hub")]
pub(crate) use owners::StepNews;
use queues::Queues;
#[cfg(feature = "hub")]
pub use sqlite::SqliteStore;
pub(crate) use topics::Topics;

use crate::LEASE;

use crate::board::{Board, BoardError, Claim, Depth, Reach, Swap, Topic};
use crate::listener::{Heard, Listener};
use crate::message::Job;
use crate::names::{CallerName, Queue, StepKey};
use crate::payload::BlobRef;
use crate::record::{Author, Record, Revised, Revision, State};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_core::BoxFuture;

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
pub struct Engine(Arc<Shared>);

struct Shared {
    store: Box<dyn RecordStore>,
    queues: Queues,
    topics: Topics,
    owners: Owners,
}

/// What has to last: records and blobs.
pub trait RecordStore: Send + Sync + 'static {
    /// The record of a step, and the caller that it belongs to.
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Kept>, BoardError>>;

    /// Writes a record of a step if the present revision is `expected`, for as long as `keep`. `owner` is the caller of the
    /// step, if it is known; the first one that is known stays, and is returned.
    fn swap<'a>(
        &'a self,
        step: &'a StepKey,
        record: &'a Record,
        expected: Revision,
        keep: Duration,
        owner: Option<&'a CallerName>,
    ) -> BoxFuture<'a, Result<Stored, BoardError>>;

    /// Stores bytes for a day.
    fn put(&self, blob: BlobRef, bytes: Bytes) -> BoxFuture<'_, Result<(), BoardError>>;

    /// The bytes of a blob.
    fn get<'a>(&'a self, blob: &'a BlobRef) -> BoxFuture<'a, Result<Bytes, BoardError>>;
}

/// A record in a store.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The record.
    pub revised: Revised,
    /// The caller of the step, if it is known.
    pub owner: Option<CallerName>,
}

/// What a store did with a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Whether it wrote the record.
    pub swap: Swap,
    /// The caller of the step, if it is known.
    pub owner: Option<CallerName>,
}

impl Engine {
    /// An engine over a store.
    pub fn new(store: impl RecordStore) -> Self {
        Self::with_lease(store, LEASE)
    }

    /// An engine whose claims lapse after another time.
    pub(crate) fn with_lease(store: impl RecordStore, lease: Duration) -> Self {
        Self(Arc::new(Shared {
            store: Box::new(store),
            queues: Queues::new(lease),
            topics: Topics::default(),
            owners: Owners::default(),
        }))
    }

    /// A board for a caller or a runner of this process.
    pub fn board(&self, name: CallerName) -> LocalBoard {
        LocalBoard { engine: self.clone(), name }
    }

    /// The caller of a step, if it is known: the one that queued its job or wrote its record first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn owner(&self, step: &StepKey) -> Result<Option<CallerName>, BoardError> {
        if let Some(owner) = self.0.queues.owner(step) {
            return Ok(Some(owner));
        }
        Ok(self.0.store.read(step).await?.and_then(|kept| kept.owner))
    }

    /// What is heard about the steps of a caller from now on.
    #[cfg(feature = "hub")]
    pub(crate) fn listen_to_own(
        &self,
        owner: &CallerName,
    ) -> tokio::sync::broadcast::Receiver<StepNews> {
        self.0.owners.listen(owner)
    }

    /// Passes on what is heard about a step to its owner, and to those of this process who listen.
    fn say(&self, step: &StepKey, owner: Option<&CallerName>, heard: &Heard) -> Reach {
        let here = self.0.topics.say(&Topic::Step(step.clone()), heard);
        let there = owner.map(|owner| self.0.owners.say(owner, step, heard));
        if there == Some(Reach::Somebody) { Reach::Somebody } else { here }
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
    fn shared(&self) -> &Shared {
        &self.engine.0
    }

    /// The owner of a step whose record only its caller writes.
    fn owner_by(&self, record: &Record) -> Option<CallerName> {
        match &record.state {
            State::Suspended => Some(self.name.clone()),
            State::Done { by: Author::Caller(caller), .. } => Some(caller.clone()),
            _ => None,
        }
    }
}

impl Board for LocalBoard {
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Revised>, BoardError>> {
        Box::pin(async { Ok(self.shared().store.read(step).await?.map(|kept| kept.revised)) })
    }

    fn swap<'a>(
        &'a self,
        step: &'a StepKey,
        record: &'a Record,
        expected: Revision,
        keep: Duration,
    ) -> BoxFuture<'a, Result<Swap, BoardError>> {
        Box::pin(async move {
            let Shared { store, queues, .. } = self.shared();
            let owner = queues.owner(step).or_else(|| self.owner_by(record));
            let stored = store.swap(step, record, expected, keep, owner.as_ref()).await?;
            let swap = stored.swap.recognised(record);
            if let Swap::Written(revision) = swap {
                let heard = Heard::Record(Box::new(Revised { record: record.clone(), revision }));
                self.engine.say(step, stored.owner.as_ref(), &heard);
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
                Topic::Step(step) => {
                    let owner = self.engine.owner(step).await?;
                    Ok(self.engine.say(step, owner.as_ref(), &heard))
                }
                _ => Ok(self.shared().topics.say(to, &heard)),
            }
        })
    }

    fn listen<'a>(&'a self, topic: &'a Topic) -> BoxFuture<'a, Result<Listener, BoardError>> {
        Box::pin(async move { Ok(self.shared().topics.listen(topic)) })
    }

    fn put(&self, bytes: Bytes) -> BoxFuture<'_, Result<BlobRef, BoardError>> {
        Box::pin(async move {
            let blob = BlobRef::of(&bytes);
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
