//! Classifies failures of requests.

use super::exchange::UNREADABLE;
use crate::transport::http::credentials::{NoHeaders, RejectedRequest};
use crate::transport::http::error::{HttpError, status};
use reqwest::header::HeaderValue;
use rmcp::model::ErrorData;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::io;

/// Removes the address, which may hold secrets.
pub(super) fn without_url(error: HttpError) -> HttpError {
    match error {
        StreamableHttpError::Client(error) => StreamableHttpError::Client(error.without_url()),
        other => other,
    }
}

/// The rejection of a request with status 401 or 403.
pub(super) fn rejection(error: &HttpError, sent: Option<&HeaderValue>) -> Option<RejectedRequest> {
    let status = code(error).filter(|status| matches!(status, 401 | 403))?;
    let challenge = match error {
        StreamableHttpError::AuthRequired(error) => error.www_authenticate_header.clone(),
        StreamableHttpError::InsufficientScope(error) => error.www_authenticate_header.clone(),
        _ => String::new(),
    };
    let sent = sent.and_then(|value| value.to_str().ok());
    let token = sent.and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned);
    Some(RejectedRequest { status, challenge, token })
}

/// The error of a request without headers.
pub(super) fn no_headers(problem: NoHeaders) -> HttpError {
    let kind = match problem {
        NoHeaders::Unauthorized(_) => io::ErrorKind::PermissionDenied,
        _ => io::ErrorKind::Other,
    };
    StreamableHttpError::Io(io::Error::new(kind, problem.to_string()))
}

/// The HTTP status of an answer that is not MCP.
pub(super) fn code(error: &HttpError) -> Option<u16> {
    match error {
        StreamableHttpError::AuthRequired(_) => Some(401),
        StreamableHttpError::InsufficientScope(_) => Some(403),
        StreamableHttpError::UnexpectedServerResponse(text) => status(text),
        StreamableHttpError::Client(error) => error.status().map(|status| status.as_u16()),
        _ => None,
    }
}

/// Whether a failure is transient.
pub(super) fn is_transient(error: &HttpError) -> bool {
    match error {
        StreamableHttpError::Client(error) => error.status().is_none() && !error.is_connect(),
        other => matches!(code(other), Some(408 | 429 | 500 | 502..=504)),
    }
}

/// Whether the server is unreachable, or has ended the session.
pub(super) fn is_gone(error: &HttpError) -> bool {
    match error {
        _ if code(error) == Some(404) => true,
        StreamableHttpError::SessionExpired => true,
        StreamableHttpError::Client(error) => error.is_connect(),
        _ => false,
    }
}

/// Whether the server sent an answer that cannot be read.
pub(super) fn is_unreadable(error: &HttpError) -> bool {
    match error {
        StreamableHttpError::UnexpectedServerResponse(text) => text.starts_with(UNREADABLE),
        StreamableHttpError::ResponseBodyTooLarge { .. } => true,
        _ => false,
    }
}

/// Error messages of official SDKs for an unknown session, which have no error code.
const NO_SESSION: &[&str] = &[
    "bad request: mcp-session-id header is required",
    "bad request: missing session id",
    "bad request: no valid session id provided",
    "bad request: server not initialized",
    "invalid or expired session id",
    "invalid or missing session id",
    "invalid session id",
    "no valid session id provided",
    "not found: invalid or expired session id",
    "not found: session has been terminated",
    "not found: session not found",
    "session not found",
];

/// Whether an error means an unknown session. Some servers use status 400 instead of 404. Other strings are errors of the
/// request.
pub(super) fn reports_no_session(status: Option<u16>, error: &ErrorData) -> bool {
    let message = error.message.trim().trim_end_matches('.').to_ascii_lowercase();
    matches!(status, Some(400 | 404)) && NO_SESSION.contains(&&*message)
}
