//! Classes of errors.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The class of a call error.
///
/// ```
/// use tool_runtime::ErrorClass;
///
/// assert_eq!(ErrorClass::NotFound.as_str(), "not_found");
/// assert!(ErrorClass::Transient.is_retryable());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorClass {
    /// The arguments are invalid; the model can correct them.
    Input,
    /// The tool does not exist.
    NotFound,
    /// A rule forbids the call.
    Denied,
    /// A user declined.
    ApprovalRejected,
    /// Too many calls.
    RateLimited,
    /// The call took too long.
    Timeout,
    /// The caller cancelled the call.
    Cancelled,
    /// The tool itself returned an error.
    Tool,
    /// The tool failed for a reason that may pass.
    Transient,
    /// The tool or the framework is broken: a panic, for instance.
    Internal,
    /// The call may or may not have had its effect.
    Indeterminate,
}

impl ErrorClass {
    /// The name in JSON and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::NotFound => "not_found",
            Self::Denied => "denied",
            Self::ApprovalRejected => "approval_rejected",
            Self::RateLimited => "rate_limited",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Tool => "tool",
            Self::Transient => "transient",
            Self::Internal => "internal",
            Self::Indeterminate => "indeterminate",
        }
    }

    /// Whether the same call may succeed later.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Timeout | Self::Transient)
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
