//! The form in which the client of a `POST` takes its answer.
//!
//! The specification requires that clients accept JSON and event streams. Many accept only JSON, or send `*/*` or no
//! `Accept` at all. They get one JSON object: messages before the result are left out, and questions fail.

use super::http_rejection::{HttpRejection, HttpResult};
use super::sessions::Sessions;
use crate::double_option::double_option;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use http_body_util::BodyExt as _;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use serde::Deserialize;
use serde::de::IgnoredAny;
use sse_stream::SseStream;
use std::convert::Infallible;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// What rmcp requires of every client.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The form of an answer that a client accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Accept {
    /// JSON, or an event stream if messages precede the result.
    Both,
    /// One JSON object.
    Json,
    /// An event stream.
    Events,
}

/// A message of a stream.
#[derive(Deserialize)]
struct Outline {
    id: Option<RequestId>,
    method: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "double_option")]
    result: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "double_option")]
    error: Option<IgnoredAny>,
}

impl Accept {
    /// What the headers of a request say. An event stream is only sent to a client that names it.
    ///
    /// # Errors
    /// The client accepts neither form.
    pub(super) fn from_headers(headers: &HeaderMap) -> HttpResult<Self> {
        let ranges = || headers.get_all(header::ACCEPT).iter().filter_map(|it| it.to_str().ok());
        if ranges().next().is_none() {
            return Ok(Self::Json);
        }
        let accepts = |media: &str, wildcard: &str| is_accepted(ranges(), media, wildcard);
        match (accepts(JSON, "*/*"), accepts(EVENTS, "text/*")) {
            (true, true) => Ok(Self::Both),
            (true, false) => Ok(Self::Json),
            (false, true) => Ok(Self::Events),
            (false, false) => Err(not_acceptable("answers are JSON or event streams")),
        }
    }

    /// Replaces the header by one that rmcp takes.
    pub(super) fn set_for_rmcp(self, headers: &mut HeaderMap) {
        if self != Self::Both {
            headers.insert(header::ACCEPT, BOTH);
        }
    }

    /// Rejects a subscription of a client that does not accept its events.
    pub(super) fn check_subscription(self) -> HttpResult<()> {
        match self {
            Self::Json => Err(not_acceptable("a subscription is answered by an event stream")),
            Self::Both | Self::Events => Ok(()),
        }
    }

    /// The response in this form. Questions to a client that does not see them fail in its session.
    ///
    /// # Errors
    /// The stream of the answer ends early.
    pub(super) async fn convert(
        self,
        response: Response,
        session: Option<(&Sessions, &str)>,
    ) -> HttpResult<Response> {
        match self {
            Self::Json if has_type(&response, EVENTS) => json_object(response, session).await,
            Self::Events if has_type(&response, JSON) => Ok(one_event(response).await),
            _ => Ok(response),
        }
    }
}

/// Whether the most specific range that matches a media type has a weight above zero.
fn is_accepted<'a>(ranges: impl Iterator<Item = &'a str>, media: &str, wildcard: &str) -> bool {
    let kind = media.split('/').next().unwrap_or_default();
    let matching = ranges.flat_map(|ranges| ranges.split(',')).filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next()?.to_ascii_lowercase();
        let specificity = match &*name {
            name if name == media => 2,
            name if name.strip_suffix("/*") == Some(kind) => 1,
            name if name == wildcard => 0,
            _ => return None,
        };
        let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
        let is_refused = weight.is_some_and(|weight| weight.parse() == Ok(0.0));
        Some((specificity, !is_refused))
    });
    matching.max().is_some_and(|(_, is_accepted)| is_accepted)
}

fn not_acceptable(reason: &str) -> HttpRejection {
    let text = format!("{reason}; send `Accept: {JSON}, {EVENTS}`");
    HttpRejection::new(StatusCode::NOT_ACCEPTABLE, text)
}

fn has_type(response: &Response, media: &str) -> bool {
    let value = response.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    response.status() == StatusCode::OK && value.is_some_and(|value| value.starts_with(media))
}

/// The last message of an event stream.
async fn json_object(
    response: Response,
    session: Option<(&Sessions, &str)>,
) -> HttpResult<Response> {
    let (mut parts, body) = response.into_parts();
    let mut events = SseStream::new(body);
    while let Some(Ok(event)) = events.next().await {
        let Some(data) = event.data else { continue };
        let Ok(message) = serde_json::from_str::<Outline>(&data) else { continue };
        match (message.method, message.id) {
            (Some(_), Some(question)) => fail(session, question).await,
            (None, _) if message.result.is_some() || message.error.is_some() => {
                parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
                return Ok(Response::from_parts(parts, Body::from(data)));
            }
            _ => {}
        }
    }
    Err(HttpRejection::busy(format!(
        "the answer was cut off because the server ends, or limits the duration of streams; a client that sends `Accept: {JSON}, {EVENTS}` can resume it"
    )))
}

/// Answers a question for its client.
async fn fail(session: Option<(&Sessions, &str)>, question: RequestId) {
    let Some((sessions, session)) = session else { return };
    let text = "the client accepts no event stream, in which it would be asked";
    let answer = JsonRpcMessage::error(ErrorData::internal_error(text, None), Some(question));
    // A session that has ended has no open questions.
    drop(sessions.accept_message(&session.into(), answer).await);
}

/// A JSON object as a stream of one event.
async fn one_event(response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let json = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let event = Event::default().data(String::from_utf8_lossy(&json));
    let mut response = Sse::new(stream::iter([Ok::<_, Infallible>(event)])).into_response();
    for (name, value) in &parts.headers {
        if !matches!(*name, header::CONTENT_TYPE | header::CONTENT_LENGTH) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::Accept::{Both, Events, Json};
    use super::*;

    #[test]
    fn the_header_decides_about_the_form_of_the_answer() {
        for (accept, expected) in [
            (None, Some(Json)),
            (Some("application/json, text/event-stream"), Some(Both)),
            (Some("Application/JSON; charset=utf-8,text/event-stream"), Some(Both)),
            (Some("application/json;q=0.9, text/event-stream;q=0.5, */*;q=0.1"), Some(Both)),
            (Some("application/json, text/event-stream; q=abc"), Some(Both)),
            (Some("text/event-stream, */*"), Some(Both)),
            (Some("application/json"), Some(Json)),
            (Some("application/*"), Some(Json)),
            (Some("*/*"), Some(Json)),
            (Some("text/html, */*;q=0.8"), Some(Json)),
            (Some("application/json, text/event-stream;q=0"), Some(Json)),
            (Some("text/event-stream"), Some(Events)),
            (Some("text/*"), Some(Events)),
            (Some("application/json;q=0, */*, text/event-stream"), Some(Events)),
            (Some("text/html"), None),
            (Some("*/*;q=0.0"), None),
            (Some(""), None),
        ] {
            let headers = accept.map(|accept| (header::ACCEPT, HeaderValue::from_static(accept)));
            let headers = HeaderMap::from_iter(headers);
            assert_eq!(Accept::from_headers(&headers).ok(), expected, "{accept:?}");
        }
    }
}
