//! Failures of a log.

use std::path::Path;
use tool_runtime_core::govern::RecordError;
use tool_runtime_store::{StoreError, StoreFailure};

/// A failure of a log: its file cannot be opened, read or written. The text is for the operator.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct LogError {
    kind: LogErrorKind,
    reason: String,
}

tool_runtime_core::debug_as_message!(LogError);

/// The kind of a [`LogError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LogErrorKind {
    /// Another process holds the log.
    Busy,
    /// The disk is full.
    Full,
    /// The file, its folder or its disk cannot be written.
    ReadOnly,
    /// The log is damaged; see [`LogReader::verify`](crate::LogReader::verify).
    Damaged,
    /// The log was written by a newer version of the program.
    Newer,
    /// The log, the step or the record does not exist, or is in another state.
    NotFound,
    /// Everything else.
    Other,
}

impl LogError {
    /// A failure of this kind.
    pub fn new(kind: LogErrorKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }

    /// The kind.
    pub fn kind(&self) -> LogErrorKind {
        self.kind
    }

    /// An error of a file, with its path.
    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        let kind = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                LogErrorKind::Full
            }
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => LogErrorKind::ReadOnly,
            ErrorKind::WouldBlock => LogErrorKind::Busy,
            _ => LogErrorKind::Other,
        };
        Self::new(kind, format!("`{}`: {error}", path.display()))
    }
}

impl From<StoreError> for LogError {
    fn from(error: StoreError) -> Self {
        let kind = match error.failure() {
            StoreFailure::Busy => LogErrorKind::Busy,
            StoreFailure::Full => LogErrorKind::Full,
            StoreFailure::ReadOnly => LogErrorKind::ReadOnly,
            StoreFailure::Corrupt => LogErrorKind::Damaged,
            StoreFailure::Newer => LogErrorKind::Newer,
            _ => LogErrorKind::Other,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<LogError> for RecordError {
    fn from(error: LogError) -> Self {
        Self::new(error.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};

    #[test]
    fn an_error_of_a_file_says_which_and_has_its_kind() {
        for (kind, expected) in [
            (ErrorKind::StorageFull, LogErrorKind::Full),
            (ErrorKind::QuotaExceeded, LogErrorKind::Full),
            (ErrorKind::PermissionDenied, LogErrorKind::ReadOnly),
            (ErrorKind::ReadOnlyFilesystem, LogErrorKind::ReadOnly),
            (ErrorKind::WouldBlock, LogErrorKind::Busy),
            (ErrorKind::NotFound, LogErrorKind::Other),
        ] {
            let error = LogError::io(Path::new("calls.db"), &Error::from(kind));
            assert_eq!(error.kind(), expected);
            assert!(error.to_string().starts_with("`calls.db`: "), "{error}");
        }
    }
}
