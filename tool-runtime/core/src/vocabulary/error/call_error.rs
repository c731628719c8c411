//! The error of a call.

use super::causes::with_causes;
use super::{BoxError, ErrorClass, ToolError};
use crate::vocabulary::error::Issue;
use crate::vocabulary::mask::{self, Mask};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The error of a call, with text for the model and detail for the operator. Its JSON form omits the source.
///
/// ```
/// use tool_runtime::{CallError, ErrorClass};
///
/// let error = CallError::new(ErrorClass::Denied, "calls to `rm` are not allowed here");
/// assert_eq!(error.to_string(), "calls to `rm` are not allowed here");
/// assert!(!error.is_retryable());
/// ```
#[derive(thiserror::Error, Serialize, Deserialize)]
#[error(transparent)]
#[serde(transparent)]
pub struct CallError(Box<Failure>);

#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
#[serde(deny_unknown_fields)]
struct Failure {
    class: ErrorClass,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    issues: Vec<Issue>,
    #[serde(skip)]
    source: Option<BoxError>,
}

impl CallError {
    /// Creates an error from a class and a message for the model.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self(Box::new(Failure {
            class,
            message: message.into(),
            detail: None,
            issues: Vec::new(),
            source: None,
        }))
    }

    /// Attaches the mistakes in the arguments, one by one.
    #[must_use]
    pub(crate) fn with_issues(mut self, issues: Vec<Issue>) -> Self {
        self.0.issues = issues;
        self
    }

    /// Replaces the text for the model.
    /// Masks secrets in all strings. The cause is dropped if it may have one.
    #[must_use]
    pub(crate) fn masked(mut self, mask: &dyn Mask) -> Self {
        let Failure { message, detail, issues, source, .. } = &mut *self.0;
        mask::in_place(mask, message);
        for issue in issues {
            issue.mask(mask);
        }
        if let Some(text) = detail
            && let Cow::Owned(masked) = mask.text(text)
        {
            (*detail, *source) = (Some(masked), None);
        }
        self
    }

    #[must_use]
    pub(crate) fn with_message(mut self, message: String) -> Self {
        self.0.message = message;
        self
    }

    /// Mistakes in the arguments of a call by JSON, one by one: path, rule and message.
    pub fn issues(&self) -> &[Issue] {
        &self.0.issues
    }

    /// Attaches text only for the operator.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// The kind of failure.
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

    /// Text only for the operator: the chain of causes, a panic's message.
    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }
}

/// The text for the model, and that for the operator.
impl fmt::Debug for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())?;
        match self.detail() {
            Some(detail) if !self.message().contains(detail) => write!(f, "\ncaused by: {detail}"),
            _ => Ok(()),
        }
    }
}

/// The chain of causes becomes the operator's detail; the cause itself stays reachable by
/// [`Error::source`](std::error::Error::source).
impl From<ToolError> for CallError {
    fn from(error: ToolError) -> Self {
        let (class, message, source) = error.into_parts();
        let detail = source.as_deref().map(|source| with_causes(source));
        Self(Box::new(Failure { class, message, detail, issues: Vec::new(), source }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

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
        let messages: Vec<String> =
            (0..4).map(|kind| fails(kind).unwrap_err().to_string()).collect();
        assert_eq!(messages, ["disk", "plain text", "owned text", "busy"]);
    }

    #[test]
    fn internal_causes_are_not_sent_to_the_model() {
        let error = CallError::from(ToolError::internal("password=hunter2"));
        assert!(!error.message().contains("hunter2"));
        assert_eq!(error.detail(), Some("password=hunter2"));
    }

    #[test]
    fn the_operator_gets_the_whole_error_chain() {
        #[derive(Debug, thiserror::Error)]
        #[error("outer")]
        struct Outer(#[source] std::io::Error);
        let error = CallError::from(ToolError::from(Outer(std::io::Error::other("inner"))));
        assert_eq!(error.detail(), Some("outer: inner"));
        assert!(error.source().is_some());
    }
}
