//! Claims of jobs: pulls of a consumer, which are recreated when it vanishes.

use super::connection::{Connection, REQUEST};
use super::streams;
use super::subjects::{self, last_token};
use crate::board::{BoardError, Claim};
use crate::message::{self, Job};
use crate::names::{CallerName, Queue};
use async_nats::jetstream::Message;
use async_nats::jetstream::message::AckKind;
use async_nats::{StatusCode, Subscriber};
use futures_util::{FutureExt as _, StreamExt as _};
use std::collections::HashMap;
use std::mem::{replace, take};
use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::lock;
use tool_runtime_core::vocabulary::BoxFuture;

/// The time for which a request waits at the server, and a runner that ends for it.
const WAIT: Duration = Duration::from_secs(1);

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
        max: usize,
        lease: Duration,
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
            let claims = |messages: Vec<Message>| {
                let claim = |message| NatsClaim::from_message(message, connection, epoch, lease);
                messages.into_iter().filter_map(claim).map(|claim| Box::new(claim) as _).collect()
            };
            let mut link = connection.link.clone();
            let next = async {
                tokio::select! {
                    next = pull.next(connection, max) => next,
                    // The server knows nothing of a request of an earlier connection.
                    _ = link.wait_for(|link| link.connections != epoch) => Err("reconnected".into()),
                }
            };
            let Some(messages) = end.run_until_cancelled(next).await else {
                let pull = pulls.remove(queue).expect("it was there");
                return Ok(claims(pull.rest(connection).await));
            };
            match messages {
                Ok(messages) if messages.is_empty() => failed = false,
                Ok(messages) => return Ok(claims(messages)),
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
    /// The number of messages that the server may still send for the last request.
    due: usize,
    /// Messages that came.
    ready: Vec<Message>,
}

impl Pull {
    async fn new(connection: &Connection, queue: &Queue, epoch: u64) -> Result<Self, BoardError> {
        let inbox = connection.client.new_inbox();
        let answers = connection.client.subscribe(inbox.clone()).await;
        let answers = answers.map_err(|error| connection.failed("no job can be heard", error))?;
        let next = connection.next_job(queue);
        Ok(Self { next, inbox, answers, epoch, due: 0, ready: Vec::new() })
    }

    /// The next messages, or none after a while. Dropping the future loses none.
    ///
    /// A request asks for as many jobs as the runner has free slots, and the server answers it job by job. It is repeated when
    /// all have come, or none for a while, so at any time no more are due than slots are free.
    async fn next(
        &mut self,
        connection: &Connection,
        max: usize,
    ) -> Result<Vec<Message>, async_nats::Error> {
        if self.due == 0 {
            self.ask(connection, max).await?;
        }
        while self.ready.is_empty() && self.due > 0 {
            let answer = timeout(WAIT + REQUEST, self.answers.next()).await?;
            self.heard(connection, answer)?;
        }
        // Those that came with it.
        while self.ready.len() < max && self.due > 0 {
            let Some(answer) = self.answers.next().now_or_never() else { break };
            if self.heard(connection, answer).is_err() {
                break;
            }
        }
        Ok(take(&mut self.ready))
    }

    async fn ask(
        &mut self,
        connection: &Connection,
        count: usize,
    ) -> Result<(), async_nats::Error> {
        let (next, inbox) = (self.next.clone(), self.inbox.clone());
        let request = format!(r#"{{"batch":{count},"expires":{}}}"#, WAIT.as_nanos());
        connection.client.publish_with_reply(next, inbox, request.into()).await?;
        self.due = count;
        Ok(())
    }

    /// Notes an answer to the last request: a job, or its end.
    fn heard(
        &mut self,
        connection: &Connection,
        answer: Option<async_nats::Message>,
    ) -> Result<(), async_nats::Error> {
        let message = answer.ok_or("the connection was closed")?;
        match message.status {
            None | Some(StatusCode::OK) => {
                self.due = self.due.saturating_sub(1);
                self.ready.push(Message { message, context: connection.streams.clone() });
                Ok(())
            }
            Some(status) => {
                self.due = 0;
                let is_end = matches!(status, StatusCode::NOT_FOUND | StatusCode::TIMEOUT);
                let reason = message.description.map_or(status.to_string(), String::from);
                if is_end { Ok(()) } else { Err(reason.into()) }
            }
        }
    }

    /// The messages of the last request. One that waits at the server cannot be taken back, so its job is claimed, too.
    async fn rest(mut self, connection: &Connection) -> Vec<Message> {
        while self.due > 0 {
            let answer = timeout(WAIT + REQUEST, self.answers.next()).await;
            let heard = answer.map_err(Into::into).and_then(|it| self.heard(connection, it));
            if let Err(error) = heard {
                tracing::debug!("the last request for jobs failed: {error}");
                break;
            }
        }
        self.ready
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
    /// The connection on which it was claimed. The job may be claimed by another runner once this one was away.
    epoch: u64,
}

impl NatsClaim {
    /// `None` if the message is no job that this version reads: it is removed.
    fn from_message(
        message: Message,
        connection: &Arc<Connection>,
        epoch: u64,
        lease: Duration,
    ) -> Option<Self> {
        // The server counts from the moment at which it sent the job.
        let lease = lease - lease / 16;
        let job = message::read::<Job>("a job", &message.payload)
            .and_then(|job| subjects::check(job.step()).map(|()| job));
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
