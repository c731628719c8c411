//! Responses to rejected requests.

use crate::rejection::Rejection;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use http_body_util::{BodyExt as _, Limited};
use std::sync::Arc;
use std::time::Duration;

/// Limits on the bytes and the time of reading a rejected body.
const DISCARD_LIMITS: (usize, Duration) = (16 << 20, Duration::from_secs(1));

/// Seconds after which a client may try again.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

/// The response to a rejected request. Boxed, since every step returns one.
pub(super) struct HttpRejection(Box<Response>);

/// Why a request was rejected, for the log: an extension of the response.
#[derive(Clone)]
pub struct Reason(pub Arc<str>);

/// A value, or the response to a rejected request.
pub(super) type HttpResult<T> = Result<T, HttpRejection>;

impl HttpRejection {
    /// A response with a message.
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        let mut text: String = text.into();
        let reason = text.as_str().into();
        text.push('\n');
        Self(Box::new((status, text).into_response())).because(reason)
    }

    /// Sets the reason in the log, if it is another than in the response.
    pub(super) fn because(mut self, reason: Arc<str>) -> Self {
        self.0.extensions_mut().insert(Reason(reason));
        self
    }

    /// The server is busy: 503.
    pub(super) fn busy(text: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text).with(header::RETRY_AFTER, RETRY_AFTER)
    }

    /// The principal is over its limit: 429.
    pub(super) fn too_many(text: impl Into<String>) -> Self {
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

    /// The response, once the client has sent the rest of its body.
    pub(super) async fn after(self, body: &mut Body) -> Response {
        skip(body).await;
        *self.0
    }
}

/// A JSON-RPC error, with status 400.
impl From<Rejection> for HttpRejection {
    fn from(rejection: Rejection) -> Self {
        let reason = rejection.message().into();
        let json = serde_json::to_vec(&rejection).unwrap_or_default();
        let mut response = Response::new(Body::from(json));
        *response.status_mut() = StatusCode::BAD_REQUEST;
        Self(Box::new(response))
            .with(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .because(reason)
    }
}

/// Reads the rest of the body for a moment: a client that is disconnected while it sends does not receive the response.
async fn skip(body: &mut Body) {
    let (bytes, time) = DISCARD_LIMITS;
    let mut rest = Limited::new(body, bytes);
    let skipping = async { while let Some(Ok(_)) = rest.frame().await {} };
    let _ = tokio::time::timeout(time, skipping).await;
}
