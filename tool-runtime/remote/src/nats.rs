//! A board of a NATS server with JetStream.
//!
//! | File | Topic |
//! |---|---|
//! | `accounts` | the configuration of a server with the rights of each caller and runner |
//! | `address`, `options` | what [`NatsBoard::connect`] takes |
//! | `connection` | the state of the connection, and what failures mean |
//! | `keys` | credentials |
//! | `subjects` | the names of subjects and streams |
//! | `streams` | streams that are created when they are missing |
//! | `claims` | pulls of the queue, and claimed jobs |
//! | `listen` | subscriptions, which go on after an interruption |

mod accounts;
mod address;
mod claims;
mod connection;
mod keys;
mod listen;
mod options;
mod streams;
mod subjects;

pub use accounts::NatsServerConfig;
pub use keys::NatsKey;
pub use options::NatsOptions;

use crate::LEASE;
use crate::board::{Board, BoardError, BoardState, Claim, Depth, Reach, Swap, Topic};
use crate::listener::Listener;
use crate::message::{self, Job};
use crate::names::{CallerName, Queue, StepKey};
use crate::payload::{BlobRef, MAX_BLOB};
use crate::record::{Record, Revised, Revision};
use async_nats::StatusCode;
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::{InfoErrorKind, ObjectInfo, ObjectStore};
use async_nats::jetstream::stream::{DirectGetErrorKind, Stream};
use bytes::Bytes;
use claims::Pulls;
use connection::Connection;
use futures_util::TryStreamExt as _;
use listen::Steps;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use subjects::RUNNERS;
use tokio::sync::OnceCell;
use tool_runtime_core::vocabulary::BoxFuture;

/// What an operator has to look after by other means.
const CANNOT_SEE: &str = "whether the NATS server syncs each record cannot be seen from here; without `sync_interval: always` in its configuration a loss of power may run a call twice that may run at most once";

/// A board of a NATS server, version 2.11 or later, with JetStream.
///
/// Records are kept in files, jobs in memory. A record that the server loses may let a tool run twice that may run at most
/// once, so the server has to sync each record before it answers: `sync_interval: always` in its configuration. This cannot be
/// seen from here.
pub struct NatsBoard {
    connection: Arc<Connection>,
    records: OnceCell<Stream>,
    blobs: OnceCell<ObjectStore>,
    pulls: Pulls,
    steps: Steps,
    lease: Duration,
}

impl NatsBoard {
    /// Checks an address and the file of credentials, without connecting.
    ///
    /// # Errors
    /// [`BoardError::Refused`]: why [`Self::connect`] would refuse them.
    pub fn check(address: &str, options: &NatsOptions) -> Result<(), BoardError> {
        Connection::check(address, options)
    }

    /// Connects to a server: `nats://NAME@HOST:PORT/NAMESPACE`, or `tls://` if it has to be encrypted. The name is that of
    /// this caller or runner; name, port (4222) and namespace (`tools`) may be left out.
    ///
    /// # Errors
    /// [`BoardError::Refused`]: the address, a name or the credentials are wrong, or the server is too old.
    /// [`BoardError::Disconnected`]: the server does not answer.
    pub async fn connect(address: &str, options: NatsOptions) -> Result<Self, BoardError> {
        let connection = Arc::new(Connection::open(address, &options).await?);
        let lease = options.lease.unwrap_or(LEASE);
        let (pulls, steps) = (Pulls::default(), Steps::default());
        let (records, blobs) = (OnceCell::new(), OnceCell::new());
        Ok(Self { connection, records, blobs, pulls, steps, lease })
    }

    /// Creates the streams of the installation that are missing: of records, of blobs, and of the jobs of queues. Whoever else
    /// may create streams does it on need; on a server with [`NatsServerConfig`] only the keeper may. The queues are kept in
    /// memory, and end with the server.
    ///
    /// # Errors
    /// The server does not answer, or does not allow it.
    pub async fn keep(&self, queues: &[Queue]) -> Result<(), BoardError> {
        self.connection.epoch()?;
        if self.connection.is_importing {
            let text = "these credentials are not the keeper's, who alone may create streams";
            return Err(BoardError::Refused(text.to_owned()));
        }
        streams::steps(&self.connection).await?;
        streams::blobs(&self.connection).await?;
        for queue in queues {
            streams::jobs(&self.connection, queue, self.lease).await?;
        }
        Ok(())
    }

    /// The subject of a record.
    fn step(&self, step: &StepKey) -> Result<String, BoardError> {
        subjects::check(&step.step).map_err(BoardError::Refused)?;
        Ok(self.connection.names.step(step))
    }

    /// The meaning of a job that the server did not take.
    async fn not_submitted(&self, error: BoardError) -> BoardError {
        match error.is_transient() {
            true => self.wrong_name().await.map_or(error, BoardError::Refused),
            false => error,
        }
    }

    /// That the credentials are those of another caller or of a runner: nobody answers a caller then.
    async fn wrong_name(&self) -> Option<String> {
        let Connection { names, name, streams, is_importing, .. } = &*self.connection;
        if !is_importing {
            return None;
        }
        // Nobody answers without this stream, either.
        let records = streams.get_stream(names.steps_stream()).await.ok()?;
        let read = records.direct_get_last_for_subject(names.step_of_nobody(name)).await;
        match read.map_err(|error| error.kind()) {
            Err(DirectGetErrorKind::ErrorResponse(StatusCode::NO_RESPONDERS, _)) => {
                let address = self.connection.address();
                Some(format!(
                    "these credentials are not those of the caller `{name}`; write the name that they belong to into the address, `nats://NAME@{address}`"
                ))
            }
            _ => None,
        }
    }

    async fn records(&self) -> Result<&Stream, BoardError> {
        self.records.get_or_try_init(|| streams::steps(&self.connection)).await
    }

    async fn blobs(&self) -> Result<&ObjectStore, BoardError> {
        self.blobs.get_or_try_init(|| streams::blobs(&self.connection)).await
    }

    /// A message to a stream, and how long it is kept there.
    async fn publish(
        &self,
        what: &str,
        subject: String,
        message: PublishMessage,
        keep: Duration,
    ) -> Result<u64, PublishFailed> {
        let message = message.ttl(whole_seconds(keep));
        let sent = self.connection.streams.send_publish(subject, message).await;
        let written = match sent {
            Ok(sent) => sent.await,
            Err(error) => Err(error),
        };
        written.map(|ack| ack.sequence).map_err(|error| match error.kind() {
            PublishErrorKind::WrongLastSequence => PublishFailed::Conflict,
            _ => PublishFailed::Error(self.connection.not_published(what, &error)),
        })
    }
}

enum PublishFailed {
    /// The last message of the subject is another one.
    Conflict,
    Error(BoardError),
}

/// Whether the same bytes are stored, and stay for long enough.
fn is_usable(info: &ObjectInfo, blob: &BlobRef) -> bool {
    let stored = info.modified.map(SystemTime::from);
    let age = stored.and_then(|stored| stored.elapsed().ok());
    info.size as u64 == blob.size && age.is_some_and(|age| age < streams::DAY / 2)
}

/// A time as the server takes it.
fn whole_seconds(time: Duration) -> Duration {
    let rest = u64::from(time.subsec_nanos() > 0);
    Duration::from_secs((time.as_secs() + rest).max(1))
}

impl Board for NatsBoard {
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Revised>, BoardError>> {
        Box::pin(async move {
            self.connection.epoch()?;
            let subject = self.step(step)?;
            match self.records().await?.direct_get_last_for_subject(subject).await {
                Ok(message) => {
                    let record = message::read("a record", &message.payload);
                    let record = record.map_err(BoardError::Damaged)?;
                    Ok(Some(Revised { record, revision: Revision(message.sequence) }))
                }
                Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
                Err(error) => Err(self.connection.failed("a record cannot be read", error)),
            }
        })
    }

    fn swap<'a>(
        &'a self,
        step: &'a StepKey,
        record: &'a Record,
        expected: Revision,
        keep: Duration,
    ) -> BoxFuture<'a, Result<Swap, BoardError>> {
        Box::pin(async move {
            self.connection.epoch()?;
            self.records().await?;
            let message = PublishMessage::build()
                .payload(message::write(record))
                .expected_last_subject_sequence(expected.0);
            match self.publish("a record", self.step(step)?, message, keep).await {
                Ok(sequence) => Ok(Swap::Written(Revision(sequence))),
                // Also if the answer to this very write was lost.
                Err(PublishFailed::Conflict) => {
                    Ok(Swap::Conflict(self.read(step).await?).recognised(record))
                }
                Err(PublishFailed::Error(error)) => Err(error),
            }
        })
    }

    fn submit<'a>(
        &'a self,
        queue: &'a Queue,
        job: &'a Job,
        keep: Duration,
    ) -> BoxFuture<'a, Result<(), BoardError>> {
        Box::pin(async move {
            self.connection.epoch()?;
            subjects::check(job.step()).map_err(BoardError::Refused)?;
            let message = PublishMessage::build().payload(message::write(job)).message_id(format!(
                "{}.{}.{}",
                self.connection.name,
                job.step(),
                job.round()
            ));
            match self
                .publish(
                    "a job",
                    self.connection.names.job(queue, &self.connection.name),
                    message,
                    keep,
                )
                .await
            {
                Ok(_) => Ok(()),
                Err(PublishFailed::Error(error)) => Err(self.not_submitted(error).await),
                Err(PublishFailed::Conflict) => {
                    Err(BoardError::Damaged("the queue expects another job".to_owned()))
                }
            }
        })
    }

    fn claim<'a>(
        &'a self,
        queue: &'a Queue,
        max: usize,
    ) -> BoxFuture<'a, Result<Vec<Box<dyn Claim>>, BoardError>> {
        Box::pin(self.pulls.claim(&self.connection, queue, max, self.lease))
    }

    fn end_claims<'a>(&'a self, queue: &'a Queue) -> BoxFuture<'a, bool> {
        self.pulls.end(queue);
        Box::pin(async { true })
    }

    fn send<'a>(
        &'a self,
        to: &'a Topic,
        message: Bytes,
    ) -> BoxFuture<'a, Result<Reach, BoardError>> {
        Box::pin(async move {
            self.connection.epoch()?;
            if let Topic::Step(step) = to {
                subjects::check(&step.step).map_err(BoardError::Refused)?;
            }
            let reach = self
                .connection
                .tell(self.connection.names.topic(to, self.caller()), message)
                .await?;
            Ok(match to {
                Topic::Step(_) | Topic::Control(_) => reach,
                // A server does not count those who hear it in other accounts.
                _ => Reach::Somebody,
            })
        })
    }

    fn listen<'a>(&'a self, topic: &'a Topic) -> BoxFuture<'a, Result<Listener, BoardError>> {
        Box::pin(async move {
            self.connection.epoch()?;
            match topic {
                Topic::Step(_) => self.steps.listen(&self.connection, topic).await,
                Topic::Control(queue) => {
                    // A runner hears of its queue before it claims: callers may submit from now on.
                    self.pulls.prepare(&self.connection, queue, self.lease).await?;
                    listen::topic(&self.connection, topic).await
                }
                Topic::AllPresence => {
                    // Only callers listen to all runners. Under another name they would reach none.
                    self.records().await?;
                    match self.wrong_name().await {
                        Some(problem) => Err(BoardError::Refused(problem)),
                        None => listen::topic(&self.connection, topic).await,
                    }
                }
                _ => listen::topic(&self.connection, topic).await,
            }
        })
    }

    fn put(&self, bytes: Bytes) -> BoxFuture<'_, Result<BlobRef, BoardError>> {
        Box::pin(async move {
            self.connection.epoch()?;
            let blob = BlobRef::from_bytes(&bytes);
            if blob.size > MAX_BLOB {
                let text = format!("{} bytes are more than the {MAX_BLOB} of a blob", blob.size);
                return Err(BoardError::Refused(text));
            }
            let store = self.blobs().await?;
            let present = store.info(blob.sha256.as_str()).await.ok();
            if present.is_some_and(|info| is_usable(&info, &blob)) {
                return Ok(blob);
            }
            let put = store.put(blob.sha256.as_str(), &mut &bytes[..]).await;
            put.map_err(|error| self.connection.failed("a blob was not stored", error))?;
            Ok(blob)
        })
    }

    fn get<'a>(&'a self, blob: &'a BlobRef) -> BoxFuture<'a, Result<Bytes, BoardError>> {
        Box::pin(async move {
            self.connection.epoch()?;
            let failed = |error: &dyn std::fmt::Display| {
                self.connection.failed("a blob cannot be read", error)
            };
            let store = self.blobs().await?;
            let info = match store.info(blob.sha256.as_str()).await {
                Ok(info) if info.size as u64 == blob.size => info,
                Ok(_) => return Err(BoardError::NoBlob(blob.sha256.to_string())),
                Err(error) if error.kind() == InfoErrorKind::NotFound => {
                    return Err(BoardError::NoBlob(blob.sha256.to_string()));
                }
                Err(error) => return Err(failed(&error)),
            };
            let bytes = streams::blob(&self.connection, &info).await?;
            blob.check(bytes).map_err(BoardError::Damaged)
        })
    }

    fn state(&self) -> BoxFuture<'_, Result<BoardState, BoardError>> {
        Box::pin(async move {
            self.connection.epoch()?;
            let prefix = self.connection.names.jobs_prefix();
            let mut streams = self.connection.streams.stream_names();
            let (mut queues, mut is_kept) = (Vec::new(), false);
            let failed = |error| self.connection.failed("the queues cannot be listed", error);
            while let Some(stream) = streams.try_next().await.map_err(failed)? {
                let queue = stream.strip_prefix(&prefix).map(str::parse::<Queue>);
                let Some(Ok(queue)) = queue else { continue };
                is_kept = true;
                // One that this program may not look at is not its own.
                let Ok(Depth { queued, claimed, .. }) = self.depth(&queue).await else { continue };
                if queued + claimed > 0 {
                    queues.push(queue);
                }
            }
            queues.sort();
            let mut problems: Vec<String> = self.wrong_name().await.into_iter().collect();
            if self.connection.is_importing && !is_kept {
                problems.push("there are no queues; `remote keep` creates them, also after a restart of the server".to_owned());
            }
            Ok(BoardState { queues, problems, notes: vec![CANNOT_SEE.to_owned()] })
        })
    }

    fn depth<'a>(&'a self, queue: &'a Queue) -> BoxFuture<'a, Result<Depth, BoardError>> {
        Box::pin(async move {
            self.connection.epoch()?;
            let name = self.connection.names.jobs_stream(queue);
            let stream = match self.connection.streams.get_stream(name).await {
                Ok(stream) => stream,
                Err(error) if streams::is_missing(&error) => {
                    return Err(self.connection.not_created(&format!("queue `{queue}`"), &error));
                }
                Err(error) => return Err(self.connection.not_found("the queue", &error)),
            };
            let consumer = stream.consumer_info(RUNNERS).await;
            let consumer = consumer
                .map_err(|error| self.connection.failed("a queue cannot be counted", error))?;
            let state = &stream.cached_info().state;
            let claimed = consumer.num_ack_pending as u64;
            let oldest = SystemTime::from(state.first_timestamp).elapsed().unwrap_or_default();
            let queued = state.messages.saturating_sub(claimed);
            let oldest = (queued > 0).then(|| message::millis(oldest));
            Ok(Depth { queued, claimed, oldest })
        })
    }

    fn next_outage<'a>(
        &'a self,
        known: &'a Option<BoardError>,
    ) -> BoxFuture<'a, Option<BoardError>> {
        let mut link = self.connection.link.clone();
        Box::pin(async move {
            // The connection ends with this board.
            drop(link.wait_for(|link| link.is_up == known.is_some()).await);
            known.is_none().then(|| self.connection.away())
        })
    }

    fn caller(&self) -> &CallerName {
        &self.connection.name
    }

    fn address(&self) -> String {
        format!("nats://{}/{}", self.connection.address(), self.connection.names.namespace())
    }

    fn is_confidential(&self) -> bool {
        self.connection.is_confidential
    }
}
