//! What is sent to a server over HTTP: rmcp's requests, with the headers that are ours.

use super::error::{HttpError, Worded, status};
use super::headers::{HeaderMap, Headers, NoHeaders, Refused};
use super::mirrored::Mirrors;
use super::tame::{Events, tamed};
use crate::mcp::client::hearing::Hearing;
use futures_util::StreamExt as _;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, ProtocolVersion,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse as Answer,
};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long the end of a session may take.
const FAREWELL: Duration = Duration::from_secs(2);
/// The longest event of a stream.
const LONGEST_EVENT: usize = 16 << 20;
/// A call that a server did not take.
const NOT_TAKEN: ErrorCode = ErrorCode(-32000);

/// Where requests go, and over which connections.
#[derive(Clone)]
pub(super) struct Agent {
    pub(super) client: reqwest::Client,
    pub(super) url: Arc<str>,
}

/// What one connection sends. A clone is of the same connection.
#[derive(Clone)]
pub(super) struct Client(Arc<Shared>);

struct Shared {
    agent: Agent,
    headers: Headers,
    mirrors: Mirrors,
    hearing: Arc<Hearing>,
    /// Whether the server answered as one does that is older than this transport.
    looks_old: Arc<AtomicBool>,
    /// Whether the server has a stream for what belongs to no request.
    has_stream: AtomicBool,
    /// Cancelled when the server is not there any more, or knows nothing of the session.
    lost: CancellationToken,
}

impl Client {
    pub(super) fn new(
        agent: Agent,
        headers: Headers,
        hearing: Arc<Hearing>,
        looks_old: Arc<AtomicBool>,
    ) -> Self {
        Self(Arc::new(Shared {
            agent,
            headers,
            mirrors: Mirrors::default(),
            hearing,
            looks_old,
            has_stream: AtomicBool::new(false),
            lost: CancellationToken::new(),
        }))
    }

    pub(super) fn url(&self) -> Arc<str> {
        Arc::clone(&self.0.agent.url)
    }

    pub(super) fn agent(&self) -> &reqwest::Client {
        &self.0.agent.client
    }

    pub(super) fn worded(&self, error: HttpError) -> Worded {
        Worded::new(error, &self.0.headers)
    }

    /// Waits until nothing more is to be expected of the server.
    pub(super) async fn lost(&self) {
        self.0.lost.cancelled().await;
    }

    /// Opens a stream of events.
    pub(super) async fn events(&self) -> Result<Events, HttpError> {
        self.stream(self.url(), None, None, HeaderMap::new(), LONGEST_EVENT).await
    }

    /// Makes a request, and once more with other headers if there are any when it is refused.
    pub(super) async fn renewing<T, F>(
        &self,
        own: HeaderMap,
        request: impl Fn(HeaderMap) -> F,
    ) -> Result<T, HttpError>
    where
        F: Future<Output = Result<T, HttpError>>,
    {
        let all = &self.0.headers;
        let headers = all.with(own.clone(), None).await.map_err(no_headers)?;
        let sent = headers.get(&AUTHORIZATION).cloned();
        let error = match request(headers).await {
            Ok(answer) => return Ok(answer),
            Err(error) => without_url(error),
        };
        let refused = refused(&error, sent.as_ref());
        let Some(refused) = refused.filter(|refused| all.are_renewable(refused.status)) else {
            return Err(error);
        };
        tracing::debug!("headers are made anew: the last were refused");
        match all.with(own, Some(&refused)).await {
            Ok(headers) => request(headers).await.map_err(without_url),
            Err(NoHeaders::Same) => Err(error),
            Err(problem) => Err(no_headers(problem)),
        }
    }

    async fn stream(
        &self,
        url: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        own: HeaderMap,
        longest: usize,
    ) -> Result<Events, HttpError> {
        let opened = self.renewing(own, |headers| {
            self.agent().get_stream_with_max_sse_event_size(
                Arc::clone(&url),
                session.clone(),
                last.clone(),
                None,
                headers,
                longest,
            )
        });
        opened.await.map(tamed)
    }

    async fn post(
        &self,
        url: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        mut own: HeaderMap,
        longest: usize,
    ) -> Result<Answer, HttpError> {
        let request = match &message {
            JsonRpcMessage::Request(request) => Some((&request.request, &request.id)),
            _ => None,
        };
        if let Some((ClientRequest::CallToolRequest(call), _)) = request {
            self.0.mirrors.add(&call.params, &mut own);
        }
        let version = own.get(&HeaderName::from_static("mcp-protocol-version"));
        let is_modern = version.is_some_and(|version| {
            version.as_bytes() >= ProtocolVersion::STANDARD_HEADERS.as_str().as_bytes()
        });
        let answer = self.renewing(own, |headers| {
            self.agent().post_message_with_max_sse_event_size(
                Arc::clone(&url),
                message.clone(),
                session.clone(),
                None,
                headers,
                longest,
            )
        });
        let answer = answer.await;
        let Some((request, id)) = request else { return answer };
        match answer {
            Ok(answer) if is_modern && matches!(request, ClientRequest::ListToolsRequest(_)) => {
                Ok(self.learning(answer))
            }
            Ok(Answer::Json(JsonRpcMessage::Error(error), session_id)) if error.id.is_none() => {
                if session.is_some() && says_no_session(&error.error) {
                    return Err(StreamableHttpError::SessionExpired);
                }
                // It is the answer to this request, whatever the server knows of it.
                Ok(Answer::Json(
                    ServerJsonRpcMessage::error(error.error, Some(id.clone())),
                    session_id,
                ))
            }
            Ok(answer) => Ok(answer),
            Err(error) => self.failed(error, request, id),
        }
    }

    /// What a request's failure means besides.
    fn failed(
        &self,
        error: HttpError,
        request: &ClientRequest,
        id: &RequestId,
    ) -> Result<Answer, HttpError> {
        let status = code(&error);
        match request {
            ClientRequest::InitializeRequest(_) if matches!(status, Some(400 | 404 | 405)) => {
                self.0.looks_old.store(true, Ordering::Relaxed);
            }
            ClientRequest::SubscriptionsListenRequest(_) if is_gone(&error) => self.0.lost.cancel(),
            ClientRequest::CallToolRequest(_)
                if status.is_some_and(|status| (300..500).contains(&status) && status != 401) =>
            {
                let text = self.worded(error).to_string();
                let error = ErrorData::new(NOT_TAKEN, text, None);
                let answer = ServerJsonRpcMessage::error(error, Some(id.clone()));
                return Ok(Answer::Json(answer, None));
            }
            _ => {}
        }
        Err(error)
    }

    /// Learns from a list of tools as it passes.
    fn learning(&self, answer: Answer) -> Answer {
        match answer {
            Answer::Json(message, session) => {
                self.learn(&message);
                Answer::Json(message, session)
            }
            Answer::Sse(events, session) => {
                let client = self.clone();
                let events = events.inspect(move |event| {
                    let data = event.as_ref().ok().and_then(|event| event.data.as_deref());
                    if let Some(Ok(message)) = data.map(serde_json::from_str) {
                        client.learn(&message);
                    }
                });
                Answer::Sse(events.boxed(), session)
            }
            other => other,
        }
    }

    fn learn(&self, message: &ServerJsonRpcMessage) {
        self.0.hearing.note_odd(self.0.mirrors.learn(message));
    }
}

impl StreamableHttpClient for Client {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        url: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        own: HeaderMap,
    ) -> Result<Answer, HttpError> {
        self.post(url, message, session, own, LONGEST_EVENT).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        url: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        own: HeaderMap,
        longest: usize,
    ) -> Result<Answer, HttpError> {
        self.post(url, message, session, own, longest).await
    }

    async fn delete_session(
        &self,
        url: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        own: HeaderMap,
    ) -> Result<(), HttpError> {
        let deleted = self.renewing(own, |headers| {
            self.agent().delete_session(Arc::clone(&url), Arc::clone(&session), None, headers)
        });
        // Whoever closes a connection does not wait for a server that hangs.
        timeout(FAREWELL, deleted).await.unwrap_or(Ok(()))
    }

    async fn get_stream(
        &self,
        url: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        own: HeaderMap,
    ) -> Result<Events, HttpError> {
        let auth = None;
        self.get_stream_with_max_sse_event_size(url, session, last, auth, own, LONGEST_EVENT).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        url: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        own: HeaderMap,
        longest: usize,
    ) -> Result<Events, HttpError> {
        let is_new = last.is_none();
        let opened = self.stream(url, session, last, own, longest).await;
        match &opened {
            Ok(_) => {
                self.0.has_stream.store(true, Ordering::Relaxed);
                if is_new {
                    // What changed before nobody told.
                    self.0.hearing.changed().tell();
                }
            }
            // Servers without such a stream may say that they know no such address.
            Err(error) if code(error).is_some() && !self.0.has_stream.load(Ordering::Relaxed) => {}
            Err(error) if is_gone(error) => self.0.lost.cancel(),
            Err(_) => {}
        }
        opened
    }
}

/// An address may hold what must not be logged.
fn without_url(error: HttpError) -> HttpError {
    match error {
        StreamableHttpError::Client(error) => StreamableHttpError::Client(error.without_url()),
        other => other,
    }
}

/// What a server said when it wanted to know who asks, or did not let them.
fn refused(error: &HttpError, sent: Option<&HeaderValue>) -> Option<Refused> {
    let status = code(error).filter(|status| matches!(status, 401 | 403))?;
    let challenge = match error {
        StreamableHttpError::AuthRequired(error) => error.www_authenticate_header.clone(),
        StreamableHttpError::InsufficientScope(error) => error.www_authenticate_header.clone(),
        _ => String::new(),
    };
    let sent = sent.and_then(|value| value.to_str().ok());
    let token = sent.and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned);
    Some(Refused { status, challenge, token })
}

/// There is nothing to send.
fn no_headers(problem: NoHeaders) -> HttpError {
    let kind = match problem {
        NoHeaders::Unauthorized(_) => io::ErrorKind::PermissionDenied,
        _ => io::ErrorKind::Other,
    };
    StreamableHttpError::Io(io::Error::new(kind, problem.to_string()))
}

/// The status of an answer that is none of MCP.
fn code(error: &HttpError) -> Option<u16> {
    match error {
        StreamableHttpError::AuthRequired(_) => Some(401),
        StreamableHttpError::InsufficientScope(_) => Some(403),
        StreamableHttpError::HttpStatus(error) => Some(error.status),
        StreamableHttpError::UnexpectedServerResponse(text) => status(text),
        StreamableHttpError::Client(error) => error.status().map(|status| status.as_u16()),
        _ => None,
    }
}

/// Whether there is no server any more, or none that knows the session.
fn is_gone(error: &HttpError) -> bool {
    match error {
        _ if code(error) == Some(404) => true,
        StreamableHttpError::SessionExpired => true,
        StreamableHttpError::Client(error) => error.is_connect(),
        _ => false,
    }
}

/// Servers of the official SDKs say so with status 400 where 404 is meant.
fn says_no_session(error: &ErrorData) -> bool {
    error.message.to_ascii_lowercase().contains("session")
}
