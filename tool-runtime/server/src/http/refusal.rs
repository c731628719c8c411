//! Responses to refused requests.

use crate::rejection::Rejection;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use http_body_util::{BodyExt as _, Limited};
use std::time::Duration;

/// Limits on the bytes and the time of reading a refused body.
const DISCARD_LIMITS: (usize, Duration) = (16 << 20, Duration::from_secs(1));

/// In how many seconds a client may try again.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// An answer to a request that is refused. In a box: there is one on every way out.
pub(super) struct Refusal(Box<Response>);

/// What a step gives on, unless the request is refused.
pub(super) type Step<T> = Result<T, Refusal>;

impl Refusal {
    /// In words.
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        let mut text: String = text.into();
        text.push('\n');
        Self(Box::new((status, text).into_response()))
    }

    /// In words, when the answer may be another in a moment.
    pub(super) fn busy(text: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text).with(header::RETRY_AFTER, RETRY_AFTER)
    }

    /// In words, when one who asks has too much already.
    pub(super) fn crowded(text: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, text).with(header::RETRY_AFTER, RETRY_AFTER)
    }

    pub(super) fn with_status(mut self, status: StatusCode) -> Self {
        *self.0.status_mut() = status;
        self
    }

    pub(super) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers_mut().insert(name, value);
        self
    }

    /// The answer, once the client has sent the rest of what it was about to.
    pub(super) async fn after(self, body: &mut Body) -> Response {
        skip(body).await;
        *self.0
    }
}

/// A message that is none, as JSON-RPC answers it.
impl From<Rejection> for Refusal {
    fn from(misfit: Rejection) -> Self {
        let json = serde_json::to_vec(&misfit).unwrap_or_default();
        let mut response = Response::new(Body::from(json));
        *response.status_mut() = StatusCode::BAD_REQUEST;
        Self(Box::new(response))
            .with(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))
    }
}

/// Reads on for a moment, for nothing: a client that is cut off while it sends does not see the
/// answer.
async fn skip(body: &mut Body) {
    let (bytes, time) = DISCARD_LIMITS;
    let mut rest = Limited::new(body, bytes);
    let skipping = async { while let Some(Ok(_)) = rest.frame().await {} };
    let _read = tokio::time::timeout(time, skipping).await;
}
