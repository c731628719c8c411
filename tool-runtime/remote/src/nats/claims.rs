//! Claims of jobs: pulls of a consumer, which are recreated when it vanishes.

use super::connection::{Connection, REQUEST};
use super::streams;
use super::subjects::last_token;
use crate::board::{BoardError, Claim};
use crate::message::{self, Job};
use crate::names::{CallerName, Queue};
use async_nats::jetstream::Message;
use async_nats::jetstream::message::AckKind;
use async_nats::{StatusCode, Subscriber};
use futures_util::StreamExt as _;
use std::collections::HashMap;
use std::mem::replace;
use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::BoxFuture;
use tool_runtime_core::seam::lock;

/// The time for which a pull waits at the server. After that the consumer is looked for again.
const WAIT: Duration = Duration::from_secs(5);

/// The queues that this runner claims from.
#[derive(Default)]
pub(super) struct Pulls {
    pulls: Mutex<HashMap<Queue, Pull>>,
    /// Ends the claims of a queue.
    ends: StdMutex<HashMap<Queue, CancellationToken>>,
}

impl Pulls {
    /// Creates the queue, if it is missing, before a runner claims from it.
    pub(super) async fn prepare(
        &self,
        connection: &Connection,
        queue: &Queue,
        lease: Duration,
    ) -> Result<(), BoardError> {
        lock(&self.ends).remove(queue);
        streams::jobs(connection, queue, lease).await
    }

    /// Ends the claims of a queue.
    pub(super) fn end(&self, queue: &Queue) {
        self.end_of(queue).cancel();
    }

    fn end_of(&self, queue: &Queue) -> CancellationToken {
        lock(&self.ends).entry(queue.clone()).or_default().clone()
    }

    /// Waits for jobs, and claims up to `max`. Only one task of a runner claims from a queue.
    pub(super) async fn claim(
        &self,
        connection: &Arc<Connection>,
        queue: &Queue,
        (max, lease): (usize, Duration),
    ) -> Result<Vec<Box<dyn Claim>>, BoardError> {
        let (mut pulls, end) = (self.pulls.lock().await, self.end_of(queue));
        let mut failed = false;
        loop {
            let epoch = connection.epoch()?;
            if pulls.get(queue).is_none_or(|pull| pull.epoch != epoch) {
                streams::jobs(connection, queue, lease).await?;
                pulls.insert(queue.clone(), Pull::new(connection, queue, epoch).await?);
            }
            let pull = pulls.get_mut(queue).expect("it was inserted");
            let messages = match end.run_until_cancelled(pull.next(connection, max)).await {
                Some(messages) => messages,
                None => pulls.remove(queue).expect("it was there").rest(connection).await,
            };
            match messages {
                Ok(messages) if messages.is_empty() && !end.is_cancelled() => failed = false,
                Ok(messages) => {
                    let claims = messages.into_iter().filter_map(|message| {
                        let claim = NatsClaim::of(message, connection, (epoch, lease));
                        claim.map(|claim| Box::new(claim) as _)
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

/// The requests for jobs of a queue. They outlive a claim that is dropped, so that no job goes to nobody.
struct Pull {
    /// The subject of requests, and of their answers.
    next: String,
    inbox: String,
    answers: Subscriber,
    epoch: u64,
    /// A request waits at the server.
    waits: bool,
}

impl Pull {
    async fn new(connection: &Connection, queue: &Queue, epoch: u64) -> Result<Self, BoardError> {
        let inbox = connection.client.new_inbox();
        let answers = connection.client.subscribe(inbox.clone()).await;
        let answers = answers.map_err(|error| connection.failed("no job can be heard", error))?;
        let next = connection.next_job(queue);
        Ok(Self { next, inbox, answers, epoch, waits: false })
    }

    /// The next messages, or none after a while.
    async fn next(
        &mut self,
        connection: &Connection,
        max: usize,
    ) -> Result<Vec<Message>, async_nats::Error> {
        if !self.waits {
            let ready = self.ready(connection, max).await?;
            if !ready.is_empty() {
                return Ok(ready);
            }
            let request = format!(r#"{{"batch":1,"expires":{}}}"#, WAIT.as_nanos());
            self.ask(connection, request).await?;
            self.waits = true;
        }
        let first = self.hear(connection, WAIT + REQUEST).await?;
        self.waits = false;
        Ok(first.into_iter().collect())
    }

    /// The messages that are there.
    async fn ready(
        &mut self,
        connection: &Connection,
        max: usize,
    ) -> Result<Vec<Message>, async_nats::Error> {
        self.ask(connection, format!(r#"{{"batch":{max},"no_wait":true}}"#)).await?;
        let mut messages = Vec::new();
        while messages.len() < max {
            let Some(message) = self.hear(connection, REQUEST).await? else { break };
            messages.push(message);
        }
        Ok(messages)
    }

    async fn ask(&self, connection: &Connection, request: String) -> Result<(), async_nats::Error> {
        let Self { next, inbox, .. } = self;
        let client = &connection.client;
        Ok(client.publish_with_reply(next.clone(), inbox.clone(), request.into()).await?)
    }

    /// The next message, or `None` at the end of a request.
    async fn hear(
        &mut self,
        connection: &Connection,
        limit: Duration,
    ) -> Result<Option<Message>, async_nats::Error> {
        let answer = timeout(limit, self.answers.next()).await?;
        let message = answer.ok_or("the connection was closed")?;
        match message.status {
            None | Some(StatusCode::OK) => {
                Ok(Some(Message { message, context: connection.streams.clone() }))
            }
            Some(StatusCode::NOT_FOUND | StatusCode::TIMEOUT) => Ok(None),
            Some(status) => {
                Err(message.description.map_or(status.to_string(), String::from).into())
            }
        }
    }

    /// Takes no further job. Returns those that are on their way.
    async fn rest(mut self, connection: &Connection) -> Result<Vec<Message>, async_nats::Error> {
        self.answers.drain().await?;
        let mut messages = Vec::new();
        while let Ok(message) = self.hear(connection, REQUEST).await {
            messages.extend(message);
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
        // The server counts from the moment at which it sent the job.
        let lease = lease - lease / 16;
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
