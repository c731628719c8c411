//! The answers of a hub.

use super::access::{Client, Deed, check};
use super::claims::Claims;
use super::refusal::{Refusal, json};
use super::request::{self, Request, queue, tag};
use super::streams;
use crate::board::{Board as _, Reach, Swap, Topic};
use crate::crash_point::crash_point;
use crate::local::{Engine, LocalBoard};
use crate::message::Job;
use crate::names::{CallerName, StepKey};
use crate::payload::{BlobRef, Digest, Json};
use crate::protocol::{
    ClaimOrder, ClaimRequest, MAX_CLAIMS, MINE, PREFIX, Put, Sent, Whoami, Written, read_topic,
    step_id, step_key,
};
use crate::record::{Record, Revised};
use axum::body::Body;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::lock;
use tool_runtime_server::Authenticate;

/// The longest wait for jobs.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The most blobs that arrive at the same time, and those of one client: a slow one leaves room for others.
const MAX_BLOBS: usize = 8;
const MAX_BLOBS_OF_CLIENT: usize = 2;

type Answer = Result<Response, Refusal>;

/// The state that all requests share.
pub(super) struct Service {
    pub(super) engine: Engine,
    pub(super) claims: Arc<Claims>,
    tokens: Box<dyn Authenticate>,
    blobs: Semaphore,
    blobs_of_clients: Mutex<HashMap<CallerName, Arc<Semaphore>>>,
    /// Ends streams and waiting requests.
    ending: CancellationToken,
}

/// Answers a request.
pub(super) async fn answer(
    State(service): State<Arc<Service>>,
    request: axum::extract::Request,
) -> Response {
    let (parts, mut body) = request.into_parts();
    if parts.uri.path() == "/healthz" {
        return "ok\n".into_response();
    }
    let answered = async {
        let request = Request::authenticate(&*service.tokens, &parts, &mut body).await?;
        service.route(request).await
    };
    match answered.await {
        Ok(response) => response,
        Err(refusal) => {
            request::discard(body).await;
            refusal.into_response()
        }
    }
}

impl Service {
    pub(super) fn new(
        engine: Engine,
        claims: Arc<Claims>,
        tokens: Box<dyn Authenticate>,
        ending: CancellationToken,
    ) -> Self {
        let (blobs, blobs_of_clients) = (Semaphore::new(MAX_BLOBS), Mutex::default());
        Self { engine, claims, tokens, blobs, blobs_of_clients, ending }
    }

    fn blobs_of(&self, client: &Client) -> Arc<Semaphore> {
        let mut clients = lock(&self.blobs_of_clients);
        let of_client = clients.entry(client.name.clone());
        Arc::clone(of_client.or_insert_with(|| Arc::new(Semaphore::new(MAX_BLOBS_OF_CLIENT))))
    }

    async fn route(&self, request: Request<'_>) -> Answer {
        let parts = request.parts;
        let path = parts.uri.path().strip_prefix(PREFIX).and_then(|path| path.strip_prefix('/'));
        let path: Vec<&str> = path.ok_or_else(|| unknown(parts))?.split('/').collect();
        match (&parts.method, &path[..]) {
            (&Method::GET, ["whoami"]) => {
                let Client { name, scopes } = request.client;
                Ok(json(StatusCode::OK, &Whoami { name, scopes: Some(scopes) }))
            }
            (&Method::GET, ["steps", queue, caller, step]) => {
                self.read(request, step_key(queue, caller, step)).await
            }
            (&Method::PUT, ["steps", queue, caller, step]) => {
                self.swap(request, step_key(queue, caller, step)).await
            }
            (&Method::POST, ["jobs", queue]) => self.submit(request, queue).await,
            (&Method::GET, ["state"]) => self.state(&request.client).await,
            (&Method::GET, ["queues", queue]) => self.depth(request, queue).await,
            (&Method::POST, ["claims", queue]) => self.claim(request, queue).await,
            (&Method::DELETE, ["claims", queue, waiter]) => {
                self.end_waiting(&request, queue, waiter)
            }
            (&Method::POST, ["claims", queue, id]) => self.order(request, queue, id).await,
            (&Method::POST, ["messages"]) => self.send(request).await,
            (&Method::GET, ["messages"]) => self.listen(request).await,
            (&Method::PUT, ["blobs", sha256]) => self.put(request, sha256).await,
            (&Method::GET, ["blobs", sha256]) => self.get(request, sha256).await,
            _ => Err(unknown(parts)),
        }
    }

    fn board(&self, client: &Client) -> LocalBoard {
        self.engine.board(client.name.clone())
    }

    async fn read(&self, request: Request<'_>, key: Result<StepKey, String>) -> Answer {
        let key = key.map_err(Refusal::invalid)?;
        check(&request.client, Deed::Read { step: &key }).map_err(Refusal::forbidden)?;
        match self.board(&request.client).read(&key).await? {
            Some(revised) => Ok(record(StatusCode::OK, &revised)),
            None => Err(Refusal::new(StatusCode::NOT_FOUND, "the step has no record")),
        }
    }

    async fn swap(&self, mut request: Request<'_>, key: Result<StepKey, String>) -> Answer {
        let key = key.map_err(Refusal::invalid)?;
        let (expected, keep) = (request.expected()?, request.keep()?);
        let written: Record = request.json("a record").await?;
        let deed = Deed::Write { step: &key, record: &written };
        check(&request.client, deed).map_err(Refusal::forbidden)?;
        match self.board(&request.client).swap(&key, &written, expected, keep).await? {
            Swap::Written(revision) => {
                crash_point("after-swap");
                Ok(json(StatusCode::OK, &Written { revision }))
            }
            Swap::Conflict(Some(present)) => Ok(record(StatusCode::PRECONDITION_FAILED, &present)),
            Swap::Conflict(None) => Ok(json(StatusCode::PRECONDITION_FAILED, &None::<Record>)),
        }
    }

    async fn submit(&self, mut request: Request<'_>, name: &str) -> Answer {
        let (queue, keep) = (queue(name)?, request.keep()?);
        let job: Job = request.json("a job").await?;
        step_id(job.step().as_str()).map_err(Refusal::invalid)?;
        check(&request.client, Deed::Submit { queue: &queue }).map_err(Refusal::forbidden)?;
        self.board(&request.client).submit(&queue, &job, keep).await?;
        Ok(StatusCode::ACCEPTED.into_response())
    }

    async fn state(&self, client: &Client) -> Answer {
        let mut state = self.board(client).state().await?;
        state.queues.retain(|queue| client.knows(queue));
        Ok(json(StatusCode::OK, &state))
    }

    async fn depth(&self, request: Request<'_>, name: &str) -> Answer {
        let queue = queue(name)?;
        check(&request.client, Deed::SeeDepth { queue: &queue }).map_err(Refusal::forbidden)?;
        Ok(json(StatusCode::OK, &self.board(&request.client).depth(&queue).await?))
    }

    async fn claim(&self, mut request: Request<'_>, name: &str) -> Answer {
        let queue = queue(name)?;
        check(&request.client, Deed::Claim { queue: &queue }).map_err(Refusal::forbidden)?;
        let ClaimRequest { max, wait, waiter } = request.json("a request for jobs").await?;
        let wait = Duration::from_millis(wait).min(MAX_WAIT);
        let board = self.board(&request.client);
        let waiting = self.claims.wait(&request.client, &queue, waiter);
        let claims = tokio::select! {
            biased;
            claims = board.claim(&queue, max.min(MAX_CLAIMS)) => claims?,
            () = tokio::time::sleep(wait) => Vec::new(),
            () = waiting.ended() => Vec::new(),
            () = self.ending.cancelled() => Vec::new(),
        };
        let claims = claims.into_iter().map(|one| self.claims.open(&request.client, &queue, one));
        let claims: Vec<_> = claims.collect();
        if !claims.is_empty() {
            crash_point("after-hand-out");
        }
        Ok(json(StatusCode::OK, &claims))
    }

    fn end_waiting(&self, request: &Request<'_>, name: &str, waiter: &str) -> Answer {
        let queue = queue(name)?;
        check(&request.client, Deed::Claim { queue: &queue }).map_err(Refusal::forbidden)?;
        self.claims.end_waiting(&request.client, &queue, waiter);
        Ok(StatusCode::NO_CONTENT.into_response())
    }

    async fn order(&self, mut request: Request<'_>, name: &str, id: &str) -> Answer {
        let queue = queue(name)?;
        check(&request.client, Deed::Claim { queue: &queue }).map_err(Refusal::forbidden)?;
        let order: ClaimOrder = request.json("`renew`, `finish` or `later`").await?;
        self.claims.order(&request.client, &queue, id, order).await?;
        Ok(StatusCode::NO_CONTENT.into_response())
    }

    async fn send(&self, mut request: Request<'_>) -> Answer {
        let topic = read_topic(&topic(&request)?).map_err(Refusal::invalid)?;
        let message: Json = request.json("JSON").await?;
        let body = message.as_str().as_bytes();
        let deed = Deed::Send { topic: &topic, body };
        check(&request.client, deed).map_err(Refusal::forbidden)?;
        let reach = self.board(&request.client).send(&topic, Bytes::copy_from_slice(body)).await?;
        Ok(json(StatusCode::OK, &Sent { heard: reach == Reach::Somebody }))
    }

    async fn listen(&self, request: Request<'_>) -> Answer {
        let (topic, ending) = (topic(&request)?, self.ending.clone());
        if topic == MINE {
            let news = self.engine.listen_to_own(&request.client.name);
            return Ok(streams::response(streams::of_steps(news), ending));
        }
        let topic = read_topic(&topic).map_err(Refusal::invalid)?;
        check(&request.client, Deed::Listen { topic: &topic }).map_err(Refusal::forbidden)?;
        let listener = self.board(&request.client).listen(&topic).await?;
        if topic == Topic::AllPresence {
            let events = streams::of_presence(listener, request.client.clone());
            return Ok(streams::response(events, ending));
        }
        Ok(streams::response(streams::of_topic(listener), ending))
    }

    async fn put(&self, mut request: Request<'_>, sha256: &str) -> Answer {
        let sha256 = digest(sha256)?;
        let own = self.blobs_of(&request.client);
        let bytes = request.blob([&own, &self.blobs]).await?;
        if BlobRef::from_bytes(&bytes).sha256 != sha256 {
            let text = "the body has another SHA-256 than the path says; send it again";
            return Err(Refusal::invalid(text));
        }
        self.board(&request.client).put(bytes).await?;
        Ok(json(StatusCode::CREATED, &Put { sha256 }))
    }

    async fn get(&self, request: Request<'_>, sha256: &str) -> Answer {
        let size = request.query("size").and_then(|size| size.parse().ok());
        let size =
            size.ok_or_else(|| Refusal::invalid("say how many bytes it has: `?size=BYTES`"))?;
        let blob = BlobRef { sha256: digest(sha256)?, size };
        Ok(Body::from(self.board(&request.client).get(&blob).await?).into_response())
    }
}

fn unknown(parts: &Parts) -> Refusal {
    let (method, path) = (&parts.method, parts.uri.path());
    let text = format!("a hub does not know `{method} {path}`; check the address of the hub");
    Refusal::new(StatusCode::NOT_FOUND, text)
}

fn topic(request: &Request<'_>) -> Result<String, Refusal> {
    request.query("topic").ok_or_else(|| Refusal::invalid("name the topic: `?topic=TOPIC`"))
}

fn digest(text: &str) -> Result<Digest, Refusal> {
    Digest::try_from(text.to_owned()).map_err(Refusal::invalid)
}

/// An answer with a record and its revision.
fn record(status: StatusCode, revised: &Revised) -> Response {
    let mut response = json(status, &revised.record);
    let tag = HeaderValue::try_from(tag(revised.revision)).expect("digits and quotes");
    response.headers_mut().insert(header::ETAG, tag);
    response
}
