//! Errors of requests to the caller.

use super::PeerCapability;

/// The reason why a request to the caller has no answer. A user who declines is not an error, see
/// [`Answer`](super::Answer).
///
/// As the error of a tool, its text gives the model the reason; over MCP of 2026-07-28 an
/// unsupported question becomes the protocol error -32021, which names the capability.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// The client lacks the capability.
    #[error(
        "the client cannot {0}, which this tool needs; continue without it, or use another client"
    )]
    Unsupported(PeerCapability),
    /// The answer does not match the question.
    #[error("the answer to `{key}` is not usable: {problem}")]
    Malformed {
        /// Key of the question.
        key: String,
        /// The reason.
        problem: String,
    },
    /// The question is invalid: every client would reject it.
    #[error("the question `{key}` cannot be asked: {problem}")]
    Unaskable {
        /// Key of the question.
        key: String,
        /// The reason.
        problem: String,
    },
    /// The request was rejected, or the connection ended.
    #[error("the client did not answer: {0}")]
    Failed(String),
}

crate::debug_as_message!(PeerError);

impl PeerError {
    pub(super) fn malformed(key: &str, problem: impl ToString) -> Self {
        Self::Malformed { key: key.to_owned(), problem: problem.to_string() }
    }
}
