//! The client of a hub.
//!
//! | File | Topic |
//! |---|---|
//! | `connection` | requests, and what their failures mean |
//! | `follow` | streams of messages that connect again |
//! | `claim` | one delivery of a job |

mod claim;
mod connection;
mod follow;

use crate::board::{Board, BoardError, BoardState, Claim, Depth, Reach, Swap, Topic};
use crate::listener::{Heard, Listener};
use crate::local::Topics;
use crate::message::Job;
use crate::message::millis;
use crate::names::{CallerName, Queue, StepKey};
use crate::payload::{BlobRef, MAX_BLOB};
use crate::protocol::{
    self, CALL, ClaimRequest, ClaimedJob, KEEP, MAX_CLAIMS, MINE, Put, Sent, Whoami, Written,
};
use crate::random;
use crate::record::{Record, Revised, Revision};
use bytes::Bytes;
use claim::HttpClaim;
use connection::{Connection, MAX_ANSWER, REQUEST};
use follow::{Follow, News};
use reqwest::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tool_runtime_core::seam::lock;
use tool_runtime_core::vocabulary::BoxFuture;

/// The time for a blob.
const BLOB: Duration = Duration::from_secs(60);

/// The time that the hub waits for jobs before it answers that there are none.
const WAIT: Duration = Duration::from_secs(20);

/// The pause before asking again, if the hub answers at once that there are none: it ends.
const PAUSE: Duration = Duration::from_millis(50);

/// Options of [`HttpBoard::connect`].
#[derive(Clone, Default)]
pub struct HttpBoardOptions {
    token: Option<String>,
    silence: Option<Duration>,
}

impl HttpBoardOptions {
    /// The token of this caller or runner, as the hub knows it. Default: none.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// The time without any byte after which a stream counts as lost. Default: 12 seconds.
    #[cfg(all(test, feature = "hub"))]
    #[must_use]
    pub(crate) fn silence(mut self, limit: Duration) -> Self {
        self.silence = Some(limit);
        self
    }
}

/// Omits the token.
impl fmt::Debug for HttpBoardOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpBoardOptions")
            .field("has_token", &self.token.is_some())
            .finish_non_exhaustive()
    }
}

/// A board of a hub in another process.
///
/// A request has 10 seconds, and 60 for a blob. While the hub is away, all methods fail at once with
/// [`BoardError::Disconnected`], and what listens connects again by itself: then it hears a [`Heard::Gap`].
///
/// ```
/// # #[cfg(feature = "hub")]
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use tokio_util::sync::CancellationToken;
/// use tool_runtime_remote::{Board, Hub, HttpBoard, HttpBoardOptions};
/// use tool_runtime_server::BearerTokens;
///
/// let tokens = BearerTokens::parse("pool1:8fQm2x scopes=call:web")?;
/// let server = Hub::memory().serve("127.0.0.1:0", tokens).await?;
/// let address = format!("http://{}", server.address());
/// tokio::spawn(server.until(CancellationToken::new()));
///
/// let options = HttpBoardOptions::default().token("8fQm2x");
/// let board = HttpBoard::connect(&address, options).await?;
/// assert_eq!(board.caller().as_str(), "pool1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct HttpBoard {
    connection: Arc<Connection>,
    name: CallerName,
    may_call: bool,
    steps: Steps,
    /// The name under which it waits for jobs.
    waiter: String,
    /// Whether it wants no more jobs.
    claims_no_more: AtomicBool,
}

/// The steps that are listened to, by one stream.
#[derive(Default)]
struct Steps {
    topics: Arc<Topics>,
    stream: Mutex<Option<Arc<Follow>>>,
}

impl HttpBoard {
    /// Checks the form of an address and of a token, without connecting.
    ///
    /// # Errors
    /// [`BoardError::Refused`]: why [`Self::connect`] would refuse them.
    pub fn check(address: &str, options: &HttpBoardOptions) -> Result<(), BoardError> {
        Connection::new(address, options).map(drop)
    }

    /// Connects to a hub, such as `http://127.0.0.1:7750`, and asks it for the name of the token.
    ///
    /// # Errors
    /// [`BoardError::Refused`]: the address or the token is wrong. [`BoardError::Disconnected`]: the hub does not answer.
    pub async fn connect(address: &str, options: HttpBoardOptions) -> Result<Self, BoardError> {
        let connection = Arc::new(Connection::new(address, &options)?);
        if !connection.is_confidential {
            tracing::warn!(
                "the connection to the hub at {} is not encrypted: others can read the token, arguments and results; use `https://`",
                connection.address()
            );
        }
        let response = connection.send(connection.request(Method::GET, "whoami"), REQUEST).await?;
        let Whoami { name, scopes } =
            connection.json(response, MAX_ANSWER).await.map_err(no_hub)?;
        let may_call = scopes.is_none_or(|scopes| scopes.iter().any(|it| it.starts_with(CALL)));
        let (waiter, claims_no_more) = (random::hex_digits::<8>(), AtomicBool::default());
        let steps = Steps::default();
        Ok(Self { connection, name, may_call, steps, waiter, claims_no_more })
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.connection.request(method, path)
    }

    async fn write(
        &self,
        step: &StepKey,
        record: &Record,
        expected: Revision,
        keep: Duration,
    ) -> Result<Swap, BoardError> {
        let request = self.request(Method::PUT, &format!("steps/{step}"));
        let request = match expected {
            Revision::NONE => request.header(IF_NONE_MATCH, "*"),
            Revision(number) => request.header(IF_MATCH, format!("\"{number}\"")),
        };
        let request = request.header(KEEP, millis(keep));
        let response = self.connection.send_json(request, record, REQUEST).await?;
        if response.status() == StatusCode::PRECONDITION_FAILED {
            return Ok(Swap::Conflict(self.revised(response).await?));
        }
        let Written { revision } = self.connection.json(response, MAX_ANSWER).await?;
        Ok(Swap::Written(revision))
    }

    /// The record of an answer, and its revision.
    async fn revised(&self, response: Response) -> Result<Option<Revised>, BoardError> {
        let tag = response.headers().get(ETAG).and_then(|tag| tag.to_str().ok());
        let revision = tag.and_then(|tag| tag.trim_matches('"').parse().ok()).map(Revision);
        let record = self.connection.bytes(response, MAX_ANSWER).await?;
        let record: Option<Record> = self.connection.parse(&record)?;
        match (record, revision) {
            (Some(record), Some(revision)) => Ok(Some(Revised { record, revision })),
            (None, _) => Ok(None),
            (Some(_), None) => {
                Err(BoardError::Damaged("the hub answers a record without its revision".to_owned()))
            }
        }
    }

    async fn claim_once(
        &self,
        queue: &Queue,
        max: usize,
    ) -> Result<Vec<Box<dyn Claim>>, BoardError> {
        let wanted = ClaimRequest { max, wait: millis(WAIT), waiter: Some(self.waiter.clone()) };
        let request = self.request(Method::POST, &format!("claims/{queue}"));
        let response = self.connection.send_json(request, &wanted, WAIT + REQUEST).await?;
        let limit = MAX_CLAIMS * MAX_ANSWER;
        let claims: Vec<ClaimedJob> = self.connection.json(response, limit).await?;
        let claim = |claimed| -> Box<dyn Claim> {
            let connection = Arc::clone(&self.connection);
            Box::new(HttpClaim { connection, queue: queue.clone(), claimed })
        };
        Ok(claims.into_iter().map(claim).collect())
    }

    /// The messages of a topic, by a stream of their own.
    async fn follow(&self, topic: &Topic) -> Result<Listener, BoardError> {
        let (speaker, listener) = Listener::new();
        let sink = move |news| match news {
            News::Gap => drop(speaker.say(Heard::Gap)),
            News::Message(message) => drop(speaker.say(Heard::Message(message))),
            News::Step(..) => {}
        };
        let connection = Arc::clone(&self.connection);
        let stream = Follow::start(connection, protocol::topic(topic), Box::new(sink));
        stream.connected().await?;
        Ok(listener.with_subscription(stream))
    }
}

/// The error of a server that answers, but not as a hub.
fn no_hub(error: BoardError) -> BoardError {
    match error {
        BoardError::Damaged(text) => BoardError::Refused(text),
        error => error,
    }
}

impl Steps {
    async fn listen(
        &self,
        connection: &Arc<Connection>,
        topic: &Topic,
    ) -> Result<Listener, BoardError> {
        let listener = self.topics.listen(topic);
        self.stream(connection).connected().await?;
        Ok(listener)
    }

    /// The stream, which the first listener opens.
    fn stream(&self, connection: &Arc<Connection>) -> Arc<Follow> {
        let mut stream = lock(&self.stream);
        let stream = stream.get_or_insert_with(|| {
            let topics = Arc::clone(&self.topics);
            let sink = move |news| match news {
                News::Step(step, heard) => drop(topics.say(&Topic::Step(step), &heard)),
                News::Gap | News::Message(_) => topics.say_to_all(&Heard::Gap),
            };
            Arc::new(Follow::start(Arc::clone(connection), MINE.to_owned(), Box::new(sink)))
        });
        Arc::clone(stream)
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.topics.end();
    }
}

impl fmt::Debug for HttpBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpBoard")
            .field("address", &self.connection.address())
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Board for HttpBoard {
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Revised>, BoardError>> {
        Box::pin(async move {
            let request = self.request(Method::GET, &format!("steps/{step}"));
            let response = self.connection.send(request, REQUEST).await?;
            if response.status() == StatusCode::NOT_FOUND {
                return Ok(None);
            }
            self.revised(self.connection.success(response).await?).await
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
            match self.write(step, record, expected, keep).await {
                // Only the response may be lost: the hub recognises the record.
                Err(BoardError::Disconnected(_)) => self.write(step, record, expected, keep).await,
                swap => swap,
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
            let request = self.request(Method::POST, &format!("jobs/{queue}"));
            let request = request.header(KEEP, millis(keep));
            let response = self.connection.send_json(request, job, REQUEST).await?;
            self.connection.success(response).await.map(drop)
        })
    }

    fn claim<'a>(
        &'a self,
        queue: &'a Queue,
        max: usize,
    ) -> BoxFuture<'a, Result<Vec<Box<dyn Claim>>, BoardError>> {
        Box::pin(async move {
            loop {
                let started = Instant::now();
                let claims = self.claim_once(queue, max).await?;
                if !claims.is_empty() || self.claims_no_more.load(Ordering::Relaxed) {
                    return Ok(claims);
                }
                if started.elapsed() < PAUSE {
                    sleep(PAUSE).await;
                }
            }
        })
    }

    fn end_claims<'a>(&'a self, queue: &'a Queue) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            self.claims_no_more.store(true, Ordering::Relaxed);
            let path = format!("claims/{queue}/{}", self.waiter);
            let response = self.connection.send(self.request(Method::DELETE, &path), REQUEST).await;
            response.is_ok_and(|response| response.status().is_success())
        })
    }

    fn send<'a>(
        &'a self,
        to: &'a Topic,
        message: Bytes,
    ) -> BoxFuture<'a, Result<Reach, BoardError>> {
        Box::pin(async move {
            let path = format!("messages?topic={}", protocol::topic(to));
            let request = self.request(Method::POST, &path);
            let response = self.connection.send_message(request, message, REQUEST).await?;
            let Sent { heard } = self.connection.json(response, MAX_ANSWER).await?;
            Ok(if heard { Reach::Somebody } else { Reach::Nobody })
        })
    }

    fn listen<'a>(&'a self, topic: &'a Topic) -> BoxFuture<'a, Result<Listener, BoardError>> {
        Box::pin(async move {
            match topic {
                Topic::Step(_) => self.steps.listen(&self.connection, topic).await,
                _ => self.follow(topic).await,
            }
        })
    }

    fn put(&self, bytes: Bytes) -> BoxFuture<'_, Result<BlobRef, BoardError>> {
        Box::pin(async move {
            let blob = BlobRef::from_bytes(&bytes);
            if blob.size > MAX_BLOB {
                let text = format!("{} bytes are more than the {MAX_BLOB} of a blob", blob.size);
                return Err(BoardError::Refused(text));
            }
            let request = self.request(Method::PUT, &format!("blobs/{}", blob.sha256));
            let response = self.connection.send(request.body(bytes), BLOB).await?;
            let _: Put = self.connection.json(response, MAX_ANSWER).await?;
            Ok(blob)
        })
    }

    fn get<'a>(&'a self, blob: &'a BlobRef) -> BoxFuture<'a, Result<Bytes, BoardError>> {
        Box::pin(async move {
            let BlobRef { sha256, size } = blob;
            let request = self.request(Method::GET, &format!("blobs/{sha256}?size={size}"));
            let response = self.connection.send(request, BLOB).await?;
            if response.status() == StatusCode::NOT_FOUND {
                return Err(BoardError::NoBlob(sha256.to_string()));
            }
            let response = self.connection.success(response).await?;
            let limit = usize::try_from(*size).unwrap_or(usize::MAX);
            let bytes = self.connection.bytes(response, limit).await?;
            blob.check(bytes).map_err(BoardError::Damaged)
        })
    }

    fn state(&self) -> BoxFuture<'_, Result<BoardState, BoardError>> {
        Box::pin(async move {
            let request = self.request(Method::GET, "state");
            let response = self.connection.send(request, REQUEST).await?;
            self.connection.json(response, MAX_ANSWER).await
        })
    }

    fn depth<'a>(&'a self, queue: &'a Queue) -> BoxFuture<'a, Result<Depth, BoardError>> {
        Box::pin(async move {
            let request = self.request(Method::GET, &format!("queues/{queue}"));
            let response = self.connection.send(request, REQUEST).await?;
            self.connection.json(response, MAX_ANSWER).await
        })
    }

    fn next_outage<'a>(
        &'a self,
        known: &'a Option<BoardError>,
    ) -> BoxFuture<'a, Option<BoardError>> {
        Box::pin(self.connection.next_outage(known.as_ref()))
    }

    fn may_call(&self) -> bool {
        self.may_call
    }

    fn caller(&self) -> &CallerName {
        &self.name
    }

    fn address(&self) -> String {
        self.connection.address().to_owned()
    }

    fn is_confidential(&self) -> bool {
        self.connection.is_confidential
    }
}
