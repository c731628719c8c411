//! Requests and their answers over HTTP. An answer that is not MCP is described by what the server sent.

use super::MAX_EVENT;
use super::excerpt::excerpt;
use crate::recovery::{self, Incoming, Recovered};
use crate::transport::http::credentials::HeaderMap;
use crate::transport::http::error::HttpError;
use crate::transport::http::events::events;
use crate::transport::http::sse_backoff::Events;
use futures_util::{StreamExt as _, stream};
use reqwest::header::{
    self, ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use reqwest::{RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, StreamableHttpError,
    StreamableHttpPostResponse as Answer,
};
use sse_stream::Sse;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// Limits on a body: of an answer, and of an answer that is an error.
const MAX_BODY: usize = MAX_EVENT;
const MAX_ERROR_BODY: usize = 64 << 10;
/// The beginning of the text for an answer that cannot be read.
pub(super) const UNREADABLE: &str = "its answer is";

/// What belongs to one request.
pub(super) struct Exchange<'a> {
    pub(super) agent: &'a reqwest::Client,
    pub(super) url: &'a str,
    pub(super) session: Option<&'a str>,
    pub(super) headers: HeaderMap,
    /// Limit on an event of a stream, in bytes.
    pub(super) longest: usize,
}

impl Exchange<'_> {
    /// Posts a message. Returns the answer with its HTTP status.
    pub(super) async fn post(
        self,
        message: &ClientJsonRpcMessage,
    ) -> Result<(Answer, StatusCode), HttpError> {
        let request = self.agent.post(self.url).json(message);
        let request = self.with_headers(request, &[(ACCEPT, &format!("{EVENTS}, {JSON}"))])?;
        let response = request.send().await?;
        let status = response.status();
        let answer = if status.is_success() {
            accepted(response, message, self.longest).await?
        } else {
            rejected(response, message, self.session.is_some()).await?
        };
        Ok((answer, status))
    }

    /// Opens a stream of events, after the last event of an earlier one.
    pub(super) async fn get(self, last: Option<&str>) -> Result<Events, HttpError> {
        let request = self.agent.get(self.url);
        let mut own = vec![(ACCEPT, EVENTS)];
        own.extend(last.map(|last| (LAST_EVENT, last)));
        let response = self.with_headers(request, &own)?.send().await?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if !status.is_success() => Err(http_error(response).await),
            _ if is_kind(&response, EVENTS) => Ok(events(response.bytes_stream(), self.longest)),
            _ => Err(unexpected_kind(response).await),
        }
    }

    /// Adds the headers of the entry and those of the protocol, which no entry may set.
    fn with_headers(
        &self,
        request: RequestBuilder,
        own: &[(HeaderName, &str)],
    ) -> Result<RequestBuilder, HttpError> {
        let mut all: header::HeaderMap = self.headers.clone().into_iter().collect();
        let session = self.session.map(|session| (SESSION, session));
        for (name, value) in own.iter().cloned().chain(session) {
            let Ok(value) = HeaderValue::from_str(value) else { continue };
            if all.insert(&name, value).is_some() {
                return Err(StreamableHttpError::ReservedHeaderConflict(name.to_string()));
            }
        }
        Ok(request.headers(all))
    }
}

/// The answer with a status of success.
async fn accepted(
    response: Response,
    message: &ClientJsonRpcMessage,
    longest: usize,
) -> Result<Answer, HttpError> {
    let JsonRpcMessage::Request(request) = message else {
        // Only requests have answers, whatever the server sends.
        return Ok(Answer::Accepted);
    };
    if matches!(response.status(), StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(Answer::Accepted);
    }
    let session = session(&response);
    if is_kind(&response, EVENTS) {
        return Ok(Answer::Sse(events(response.bytes_stream(), longest), session));
    }
    if !is_kind(&response, JSON) {
        return Err(unexpected_kind(response).await);
    }
    let body = body(response, MAX_BODY).await?;
    let is_call = matches!(request.request, ClientRequest::CallToolRequest(_));
    match recovery::read(&body, &|_| is_call) {
        Ok(message) => Ok(Answer::Json(message, session)),
        Err(Recovered::Messages(messages)) => Ok(batch(messages, &request.id, session)),
        Err(_) => {
            let words = match excerpt(JSON, &body) {
                words if words.is_empty() => "empty".to_owned(),
                words => words,
            };
            let text = format!("{UNREADABLE} {words}, not JSON-RPC");
            Err(StreamableHttpError::UnexpectedServerResponse(text.into()))
        }
    }
}

/// Several messages in one body, as revision 2025-03-26 of MCP allows.
fn batch(mut messages: Vec<Incoming>, id: &RequestId, session: Option<String>) -> Answer {
    if messages.len() == 1 {
        return Answer::Json(messages.remove(0), session);
    }
    tracing::debug!(%id, "an answer has {} messages", messages.len());
    let messages = messages.iter().filter_map(|message| serde_json::to_string(message).ok());
    let events: Vec<_> = messages.map(|text| Ok(Sse::default().data(text))).collect();
    Answer::Sse(stream::iter(events).boxed(), session)
}

/// The answer with a status of failure, if it is one of MCP.
async fn rejected(
    response: Response,
    message: &ClientJsonRpcMessage,
    has_session: bool,
) -> Result<Answer, HttpError> {
    let status = response.status();
    if status == StatusCode::NOT_FOUND && has_session {
        return Err(StreamableHttpError::SessionExpired);
    }
    let is_refusal = matches!(
        status,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS
    );
    if is_refusal {
        return Err(http_error(response).await);
    }
    let (is_json, session, failed) =
        (is_kind(&response, JSON), session(&response), Failed::from_response(&response));
    let body = error_body(response).await;
    let error = match recovery::read(&body, &|_| false) {
        Ok(error @ JsonRpcMessage::Error(_)) => Some(error),
        _ => None,
    };
    if let JsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && status.is_client_error()
        && !has_session
    {
        return Ok(older(error, &request.id, &failed.text(&body)));
    }
    match error.filter(|_| is_json) {
        Some(error) => Ok(Answer::Json(error, session)),
        None => Err(failed.error(&body)),
    }
}

/// The answer to `server/discover` of a server that does not know it. Such a server may not have read the id.
fn older(error: Option<Incoming>, id: &RequestId, text: &str) -> Answer {
    let error = match error {
        Some(JsonRpcMessage::Error(error)) => error.error,
        _ => ErrorData::invalid_request(text.to_owned(), None),
    };
    Answer::Json(JsonRpcMessage::error(error, Some(id.clone())), None)
}

/// The error for an answer with a status of failure.
pub(in crate::transport::http) async fn http_error(response: Response) -> HttpError {
    let challenge = response.headers().get(WWW_AUTHENTICATE);
    let challenge = challenge.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    match (response.status(), challenge) {
        (StatusCode::UNAUTHORIZED, Some(challenge)) => {
            StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge))
        }
        (StatusCode::FORBIDDEN, Some(challenge)) => {
            StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge, None))
        }
        _ => {
            let failed = Failed::from_response(&response);
            failed.error(&error_body(response).await)
        }
    }
}

/// The head of an answer with a status of failure.
struct Failed {
    status: StatusCode,
    retry_after: Option<String>,
    kind: String,
}

impl Failed {
    fn from_response(response: &Response) -> Self {
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|it| it.to_str().ok());
        Self {
            status: response.status(),
            retry_after: retry_after.map(str::to_owned),
            kind: kind(response),
        }
    }

    fn text(&self, body: &[u8]) -> String {
        let status = match &self.retry_after {
            Some(after) => format!("HTTP {}; retry after {after}", self.status.as_u16()),
            None => format!("HTTP {}", self.status),
        };
        format!("{status}: {}", excerpt(&self.kind, body))
    }

    fn error(&self, body: &[u8]) -> HttpError {
        StreamableHttpError::UnexpectedServerResponse(self.text(body).into())
    }
}

/// The error for an answer that is neither JSON nor a stream of events.
async fn unexpected_kind(response: Response) -> HttpError {
    let kind = kind(&response);
    let with = if kind.is_empty() {
        "without a content type".to_owned()
    } else {
        format!("with `{kind}`")
    };
    let body = error_body(response).await;
    let words = excerpt(&kind, &body);
    let text =
        format!("it answers {with}, which is not MCP; is this its address? It sent: {words}");
    StreamableHttpError::UnexpectedServerResponse(text.into())
}

fn session(response: &Response) -> Option<String> {
    let session = response.headers().get(SESSION)?;
    session.to_str().ok().map(str::to_owned)
}

/// The content type, empty without one.
fn kind(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned()).unwrap_or_default()
}

fn is_kind(response: &Response, wanted: &str) -> bool {
    let kind = kind(response).to_ascii_lowercase();
    kind.trim_start().starts_with(wanted)
}

/// The whole body, up to a limit.
async fn body(mut response: Response, max_size: usize) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > max_size {
            return Err(StreamableHttpError::ResponseBodyTooLarge { max_size });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What can be read of a body that describes a failure.
async fn error_body(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await
        && body.len() < MAX_ERROR_BODY
    {
        body.extend_from_slice(&chunk);
    }
    body
}
