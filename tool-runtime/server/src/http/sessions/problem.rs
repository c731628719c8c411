//! Errors of sessions.

use crate::http::concurrency_limit::LimitReached;
use crate::http::http_rejection::HttpRejection;
use crate::rejection::Rejection;
use axum::http::StatusCode;
use rmcp::model::{ErrorData, RequestId};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManagerError;

/// The reason why a request in a session is rejected.
#[derive(Clone, Debug, thiserror::Error)]
pub(in crate::http) enum SessionProblem {
    #[error("there are as many sessions as there may be")]
    Full(LimitReached),
    /// The session has ended, or never existed.
    #[error("there is no such session")]
    NotFound,
    /// A request with this id is in flight.
    #[error("the request {request} runs")]
    DuplicateId { request: RequestId, error: ErrorData },
}

impl From<LimitReached> for SessionProblem {
    fn from(full: LimitReached) -> Self {
        Self::Full(full)
    }
}

/// rmcp's errors mean that the session has already ended.
impl From<LocalSessionManagerError> for SessionProblem {
    fn from(error: LocalSessionManagerError) -> Self {
        tracing::debug!(%error, "a session does not answer");
        Self::NotFound
    }
}

impl From<SessionProblem> for HttpRejection {
    fn from(problem: SessionProblem) -> Self {
        match problem {
            SessionProblem::Full(LimitReached::Total(limit)) => Self::busy(format!(
                "there are {limit} sessions, and no more are opened; try again later"
            )),
            SessionProblem::Full(LimitReached::Principal(limit)) => Self::too_many(format!(
                "one client has {limit} of all sessions at most, and yours are open; end those that you do not need, or try again later"
            )),
            SessionProblem::NotFound => {
                Self::new(StatusCode::NOT_FOUND, "Not Found: Session not found")
            }
            SessionProblem::DuplicateId { request, error } => Rejection::to(&request, error).into(),
        }
    }
}
