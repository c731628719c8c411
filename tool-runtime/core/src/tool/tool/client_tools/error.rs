//! Errors of answering client-executed calls.

use std::sync::Arc;
use thiserror::Error;

/// The reason why an answer to a [`ClientCall`](crate::tool::ClientCall) was rejected.
///
/// The endings of the last 1000 calls are remembered. Older calls count as unknown.
///
/// ```
/// # use std::time::Duration;
/// # use tool_runtime::tool::ClientTools;
/// let client = ClientTools::new(Duration::from_secs(60));
/// let error = client.answer("call_1", "too early").unwrap_err();
/// assert_eq!(error.to_string(), "no call `call_1` is known; answer with the id of a call from `next`");
/// ```
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ClientAnswerError {
    /// The call is unknown, or ended long ago.
    #[error("no call `{id}` is known; answer with the id of a call from `next`")]
    Unknown {
        /// The id that was given.
        id: Arc<str>,
    },
    /// The call has been answered.
    #[error("call `{id}` has been answered already; answer each call once")]
    Answered {
        /// The call's id.
        id: Arc<str>,
    },
    /// The deadline of the call has passed.
    #[error("call `{id}` has expired; answer before its deadline")]
    Expired {
        /// The call's id.
        id: Arc<str>,
    },
    /// The call was cancelled.
    #[error("call `{id}` was cancelled by its caller; watch `cancelled` to stop working on it")]
    Cancelled {
        /// The call's id.
        id: Arc<str>,
    },
    /// The answer does not match the tool's output schema. The call has ended with an error.
    #[error("the answer to call `{id}` was rejected: {reason}")]
    Misfit {
        /// The call's id.
        id: Arc<str>,
        /// The reason.
        reason: String,
    },
}

crate::debug_as_message!(ClientAnswerError);
