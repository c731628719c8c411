//! Claims of jobs: pulls of a consumer, which are recreated when it vanishes.

use super::connection::Connection;
use super::streams;
use super::subjects::last_token;
use crate::board::{BoardError, Claim};
use crate::message::{self, Job};
use crate::names::{CallerName, Queue};
use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::Consumer;
use async_nats::jetstream::consumer::pull::{Batch, Config};
use async_nats::jetstream::message::AckKind;
use futures_util::StreamExt as _;
use std::collections::HashMap;
use std::mem::replace;
use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tool_runtime_core::BoxFuture;
use tool_runtime_core::seam::lock;

/// The time for which a pull waits at the server. After that the consumer is looked for again.
const WAIT: Duration = Duration::from_secs(5);

/// The queues that this runner claims from.
#[derive(Default)]
pub(super) struct Pulls(Mutex<HashMap<Queue, Pull>>);

/// The pull of a queue. It outlives a claim that is dropped, so that no job goes to nobody.
struct Pull {
    consumer: Consumer<Config>,
    epoch: u64,
    waiting: Option<Batch>,
}

impl Pulls {
    /// Creates the queue, if it is missing.
    pub(super) async fn prepare(
        &self,
        connection: &Connection,
        queue: &Queue,
        lease: Duration,
    ) -> Result<(), BoardError> {
        streams::jobs(connection, queue, lease).await.map(drop)
    }

    /// Waits for jobs, and claims up to `max`.
    pub(super) async fn claim(
        &self,
        connection: &Arc<Connection>,
        queue: &Queue,
        (max, lease): (usize, Duration),
    ) -> Result<Vec<Box<dyn Claim>>, BoardError> {
        // Only one task of a runner claims from a queue.
        let mut pulls = self.0.lock().await;
        let mut failed = false;
        loop {
            let epoch = connection.epoch()?;
            if pulls.get(queue).is_none_or(|pull| pull.epoch != epoch) {
                let consumer = streams::jobs(connection, queue, lease).await?;
                pulls.insert(queue.clone(), Pull { consumer, epoch, waiting: None });
            }
            let pull = pulls.get_mut(queue).expect("it was inserted");
            match pull.next(max).await {
                Ok(messages) if messages.is_empty() => failed = false,
                Ok(messages) => {
                    let claims = messages.into_iter().filter_map(|message| {
                        NatsClaim::of(message, connection, (epoch, lease))
                            .map(|it| Box::new(it) as _)
                    });
                    return Ok(claims.collect());
                }
                Err(error) => {
                    pulls.remove(queue);
                    connection.epoch()?;
                    // The queue may have been removed: it is looked for once.
                    if replace(&mut failed, true) {
                        let what = format!("nothing can be claimed from queue `{queue}`");
                        return Err(connection.failed(&what, error));
                    }
                }
            }
        }
    }
}

impl Pull {
    /// The next messages, or none after a while.
    async fn next(&mut self, max: usize) -> Result<Vec<Message>, async_nats::Error> {
        if self.waiting.is_none() {
            let ready = self.ready(max).await?;
            if !ready.is_empty() {
                return Ok(ready);
            }
            let waiting = self.consumer.batch().max_messages(1).expires(WAIT).messages();
            self.waiting = Some(waiting.await?);
        }
        let first = self.waiting.as_mut().expect("it was set").next().await;
        self.waiting = None;
        let Some(first) = first.transpose()? else { return Ok(Vec::new()) };
        let mut messages = vec![first];
        if max > 1 {
            messages.extend(self.ready(max - 1).await.unwrap_or_default());
        }
        Ok(messages)
    }

    /// The messages that are there.
    async fn ready(&self, max: usize) -> Result<Vec<Message>, async_nats::Error> {
        let mut batch = self.consumer.fetch().max_messages(max).messages().await?;
        let mut messages = Vec::new();
        while let Some(message) = batch.next().await {
            messages.push(message?);
        }
        Ok(messages)
    }
}

/// A claimed job.
struct NatsClaim {
    job: Job,
    caller: CallerName,
    is_repeated: bool,
    message: Message,
    connection: Arc<Connection>,
    /// The time until which it is this runner's. The server takes what a lapsed claim says, and applies it to the next one.
    until: StdMutex<Option<Instant>>,
    lease: Duration,
    /// The connection on which it was claimed. A queue that was created anew counts from one again, so what a claim of an
    /// earlier connection says could be about another job.
    epoch: u64,
}

impl NatsClaim {
    /// `None` if the message is no job: it is removed.
    fn of(
        message: Message,
        connection: &Arc<Connection>,
        (epoch, lease): (u64, Duration),
    ) -> Option<Self> {
        let job = message::read::<Job>("a job", &message.payload);
        let caller = last_token(&message.subject);
        let (job, caller) = match (job, caller) {
            (Ok(job), Some(caller)) => (job, caller),
            (job, _) => {
                let reason = job.err().unwrap_or_else(|| "its caller is unknown".to_owned());
                tracing::warn!(subject = %message.subject, "a job is left out: {reason}");
                tokio::spawn(async move { drop(message.ack_with(AckKind::Term).await) });
                return None;
            }
        };
        let is_repeated = message.info().map_or(true, |info| info.delivered > 1);
        let (connection, until) =
            (Arc::clone(connection), StdMutex::new(Some(Instant::now() + lease)));
        Some(Self { job, caller, is_repeated, message, connection, until, lease, epoch })
    }

    fn check(&self) -> Result<(), BoardError> {
        let is_held = lock(&self.until).is_some_and(|until| Instant::now() < until);
        if is_held && self.connection.epoch()? == self.epoch {
            Ok(())
        } else {
            Err(BoardError::Lapsed)
        }
    }

    async fn answer(&self, kind: AckKind) -> Result<(), BoardError> {
        self.check()?;
        let until = match kind {
            AckKind::Progress => Some(Instant::now() + self.lease),
            _ => None,
        };
        let answered = match kind {
            AckKind::Ack => self.message.double_ack().await,
            kind => self.message.ack_with(kind).await,
        };
        answered.map_err(|error| self.connection.failed("a claim was not changed", error))?;
        *lock(&self.until) = until;
        Ok(())
    }
}

impl Claim for NatsClaim {
    fn job(&self) -> &Job {
        &self.job
    }

    fn caller(&self) -> &CallerName {
        &self.caller
    }

    fn is_repeated(&self) -> bool {
        self.is_repeated
    }

    fn renew(&self) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(self.answer(AckKind::Progress))
    }

    fn finish(&self) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(self.answer(AckKind::Ack))
    }

    fn later(&self, delay: Duration) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(self.answer(AckKind::Nak(Some(delay))))
    }
}
