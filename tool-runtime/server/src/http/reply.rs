//! Messages of the fast path as parts of HTTP responses.

use crate::fast_path::{Answer, written};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use rmcp::model::{ErrorCode, JsonRpcMessage, ServerNotification};

/// A message to a client.
pub(super) struct Reply {
    /// Its JSON text.
    pub(super) json: String,
    /// Whether it answers the request.
    pub(super) is_last: bool,
    status: StatusCode,
}

impl Reply {
    /// A message before the answer.
    pub(super) fn notification(notification: ServerNotification) -> Self {
        let json = written(&JsonRpcMessage::notification(notification));
        Self { json, is_last: false, status: StatusCode::OK }
    }

    /// The answer to a client of 2026-07-28, or to an older one.
    pub(super) fn answer(answer: Answer, is_modern: bool) -> Self {
        let status = answer.code.map_or(StatusCode::OK, |code| status(code, is_modern));
        Self { json: answer.json, is_last: true, status }
    }

    /// As the whole of an answer.
    pub(super) fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.json));
        *response.status_mut() = self.status;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response
    }
}

/// Refusals that intermediaries should see have statuses of their own in 2026-07-28.
fn status(code: ErrorCode, is_modern: bool) -> StatusCode {
    match code {
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::HEADER_MISMATCH
            if is_modern =>
        {
            StatusCode::BAD_REQUEST
        }
        ErrorCode::METHOD_NOT_FOUND if is_modern => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}
