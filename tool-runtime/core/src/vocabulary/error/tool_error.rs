//! The error of a tool.

use super::{BoxError, ErrorClass, write_error};
use std::error::Error;
use std::fmt;

/// An error of a tool with more than a message.
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

    /// An error for the operator only: the model only reads that the
    /// tool failed.
    pub fn internal(detail: impl Into<BoxError>) -> Self {
        Self {
            class: ErrorClass::Internal,
            message: INTERNAL.to_owned(),
            source: Some(detail.into()),
        }
    }

    /// Attaches the cause, for the operator.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The kind of failure.
    pub fn class(&self) -> ErrorClass {
        self.class
    }

    /// The text for the model.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The cause of the error, if one is known.
    pub fn source(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.source.as_deref()
    }

    pub(super) fn into_parts(self) -> (ErrorClass, String, Option<BoxError>) {
        (self.class, self.message, self.source)
    }

    fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), source: None }
    }

    /// Creates an error from any value that implements `Display`.
    pub(crate) fn from_display(error: &dyn fmt::Display) -> Self {
        Self::user(error.to_string())
    }
}

/// Text for the model about a failure whose cause is not shown.
pub const INTERNAL: &str =
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
        write_error(self, self.source.as_deref().map(|source| source as _), f)
    }
}
