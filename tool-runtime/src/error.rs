//! What can go wrong in a call: a class, a text for the model, a detail for the operator.

use crate::issue::Issue;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;

type BoxError = Box<dyn Error + Send + Sync>;

/// Why a call did not succeed.
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
    /// The arguments do not fit; the model can correct them.
    Input,
    /// There is no such tool.
    NotFound,
    /// A rule forbids the call.
    Denied,
    /// A person was asked and said no.
    ApprovalRejected,
    /// Too many calls.
    RateLimited,
    /// The call took too long.
    Timeout,
    /// The caller gave up.
    Cancelled,
    /// The tool itself answered with an error.
    Tool,
    /// The tool failed for a reason that may pass.
    Transient,
    /// The tool or the framework is broken: a panic, for instance.
    Internal,
    /// Nobody knows whether the call had its effect.
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

/// What a tool returns when it wants to say more than a text.
///
/// Any error type becomes one by `?`: its text is shown to the model, its chain of sources to
/// the operator. It deliberately does not implement [`Error`] itself, as `anyhow::Error` does
/// not: that makes the conversion from every error possible.
///
/// ```
/// use tool_runtime::{ErrorClass, ToolError};
///
/// fn read(path: &str) -> Result<String, ToolError> {
///     if path.is_empty() {
///         return Err(ToolError::user("`path` is empty; give the path of a file"));
///     }
///     Ok(std::fs::read_to_string(path)?)
/// }
///
/// assert_eq!(read("").unwrap_err().class(), ErrorClass::Tool);
/// assert!(read("/no/such/file").unwrap_err().message().contains("No such file"));
/// ```
pub struct ToolError {
    class: ErrorClass,
    message: String,
    source: Option<BoxError>,
}

impl ToolError {
    /// An error that the model can act on: say what was wrong and what to do instead.
    pub fn user(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Tool, message)
    }

    /// An error that may pass: the same call may succeed later.
    pub fn transient(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Transient, message)
    }

    /// An error that is nobody's business but the operator's: the model is told only that the
    /// tool failed.
    pub fn internal(detail: impl Into<BoxError>) -> Self {
        Self {
            class: ErrorClass::Internal,
            message: INTERNAL.to_owned(),
            source: Some(detail.into()),
        }
    }

    /// Attaches what caused it, for the operator.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What kind of failure it is.
    pub fn class(&self) -> ErrorClass {
        self.class
    }

    /// The text for the model.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Its cause, if one is known.
    pub fn source(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.source.as_deref()
    }

    fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), source: None }
    }

    /// From anything that only prints.
    pub(crate) fn from_display(error: &dyn fmt::Display) -> Self {
        Self::user(error.to_string())
    }
}

/// What the model is told of a failure that is not its business.
pub(crate) const INTERNAL: &str =
    "the tool failed for an internal reason, which has been logged; try another way";

impl<E: Into<BoxError>> From<E> for ToolError {
    fn from(error: E) -> Self {
        let source = error.into();
        Self::user(source.to_string()).with_source(source)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError")
            .field("class", &self.class)
            .field("message", &self.message)
            .field("source", &self.source)
            .finish()
    }
}

/// Why a call has no success to show: for the caller, the model and the operator.
///
/// ```
/// use tool_runtime::{CallError, ErrorClass};
///
/// let error = CallError::new(ErrorClass::Denied, "calls to `rm` are not allowed here");
/// assert_eq!(error.to_string(), "calls to `rm` are not allowed here");
/// assert!(!error.is_retryable());
/// ```
#[derive(Debug)]
pub struct CallError(Box<Failure>);

#[derive(Debug)]
struct Failure {
    class: ErrorClass,
    message: String,
    detail: Option<String>,
    issues: Vec<Issue>,
    source: Option<BoxError>,
}

impl CallError {
    /// From a class and a text for the model.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self(Box::new(Failure {
            class,
            message: message.into(),
            detail: None,
            issues: Vec::new(),
            source: None,
        }))
    }

    /// Attaches what was wrong with the arguments, one by one.
    #[must_use]
    pub(crate) fn with_issues(mut self, issues: Vec<Issue>) -> Self {
        self.0.issues = issues;
        self
    }

    /// What was wrong with the arguments, one by one: path, rule and message. Empty for
    /// everything but [`ErrorClass::Input`].
    pub fn issues(&self) -> &[Issue] {
        &self.0.issues
    }

    /// Attaches what only the operator should read.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// What kind of failure it is.
    pub fn class(&self) -> ErrorClass {
        self.0.class
    }

    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.0.class.is_retryable()
    }

    /// The text for the model.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What only the operator should read: the chain of causes, a panic's message.
    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl Error for CallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// The chain of causes becomes the operator's detail; the cause itself stays reachable by
/// [`Error::source`].
impl From<ToolError> for CallError {
    fn from(error: ToolError) -> Self {
        let detail = error.source.as_deref().map(chain);
        Self(Box::new(Failure {
            class: error.class,
            message: error.message,
            detail,
            issues: Vec::new(),
            source: error.source,
        }))
    }
}

fn chain(error: &(dyn Error + Send + Sync + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_and_text_converts_by_question_mark() {
        fn fails(kind: u8) -> Result<(), ToolError> {
            match kind {
                0 => Err(std::io::Error::other("disk"))?,
                1 => Err("plain text")?,
                2 => Err(String::from("owned text"))?,
                _ => Err(ToolError::transient("busy"))?,
            }
            Ok(())
        }
        let texts: Vec<String> = (0..4).map(|kind| fails(kind).unwrap_err().to_string()).collect();
        assert_eq!(texts, ["disk", "plain text", "owned text", "busy"]);
    }

    #[test]
    fn the_model_never_reads_an_internal_cause() {
        let error = CallError::from(ToolError::internal("password=hunter2"));
        assert!(!error.message().contains("hunter2"));
        assert_eq!(error.detail(), Some("password=hunter2"));
    }

    #[test]
    fn the_operator_reads_the_whole_chain() {
        #[derive(Debug, thiserror::Error)]
        #[error("outer")]
        struct Outer(#[source] std::io::Error);
        let error = CallError::from(ToolError::from(Outer(std::io::Error::other("inner"))));
        assert_eq!(error.detail(), Some("outer: inner"));
        assert!(error.source().is_some());
    }
}
