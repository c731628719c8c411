//! Answers that are errors: a status, and JSON that says what to do.

use crate::board::BoardError;
use crate::protocol::Failure;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// An answer that is an error.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    text: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    /// The request is not valid: 400.
    pub(super) fn invalid(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// The client may not do it: 403.
    pub(super) fn forbidden(text: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, text)
    }
}

impl From<BoardError> for Refusal {
    fn from(error: BoardError) -> Self {
        let status = match &error {
            BoardError::Disconnected(_) => StatusCode::SERVICE_UNAVAILABLE,
            BoardError::Full(_) => StatusCode::TOO_MANY_REQUESTS,
            BoardError::Refused(_) => StatusCode::FORBIDDEN,
            BoardError::NoBlob(_) => StatusCode::NOT_FOUND,
            BoardError::Lapsed => StatusCode::GONE,
            BoardError::Damaged(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = json(self.status, &Failure { error: self.text });
        if self.status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer realm=\"remote\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// An answer with JSON.
pub(super) fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let body = serde_json::to_vec(body).expect("answers have keys of text");
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
