//! Failures of requests to a language server.

use serde::Deserialize;
use std::fmt;
use std::time::Duration;

/// The reason why a request has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LspError {
    /// The connection has ended, with the reason.
    Closed(String),
    /// The server did not respond in time.
    Timeout(Duration),
    /// The server responded with an error.
    Response(ResponseError),
    /// The response is not of the type that the protocol has for it.
    Invalid(String),
}

/// An error of the server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct ResponseError {
    pub(super) code: i64,
    pub(super) message: String,
}

impl LspError {
    /// Whether the request may succeed when it is repeated: the server was busy with changes of documents.
    pub(super) fn is_transient(&self) -> bool {
        const CONTENT_MODIFIED: i64 = -32801;
        const SERVER_CANCELLED: i64 = -32802;
        matches!(self, Self::Response(error) if [CONTENT_MODIFIED, SERVER_CANCELLED].contains(&error.code))
    }
}

impl fmt::Display for LspError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(reason) => write!(f, "ended: {reason}"),
            Self::Timeout(limit) => {
                write!(f, "did not answer within {} seconds", limit.as_secs_f64())
            }
            Self::Response(error) => write!(f, "answered: {} (code {})", error.message, error.code),
            Self::Invalid(reason) => write!(f, "sent an answer that is not valid: {reason}"),
        }
    }
}
