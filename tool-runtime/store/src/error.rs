//! The causes of failures.

use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// The kind of a [`StoreError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreFailure {
    /// The file cannot be opened or created.
    CannotOpen,
    /// The file was written by a newer version of the program.
    Newer,
    /// Another process held the file for longer than the limit.
    Busy,
    /// The disk is full.
    Full,
    /// The file, its folder or its disk cannot be written.
    ReadOnly,
    /// The file is damaged, or is not a database.
    Corrupt,
    /// The store is closed.
    Closed,
    /// Everything else.
    Other,
}

/// A failure of a database, with its file.
#[derive(Clone, Debug, thiserror::Error)]
#[error("`{}`: {reason}", path.display())]
pub struct StoreError {
    path: PathBuf,
    failure: StoreFailure,
    reason: String,
}

impl StoreError {
    /// A failure of the file at `path`.
    pub fn new(path: &Path, failure: StoreFailure, reason: impl Into<String>) -> Self {
        Self { path: path.to_owned(), failure, reason: reason.into() }
    }

    pub(crate) fn closed(path: &Path) -> Self {
        Self::new(path, StoreFailure::Closed, "the store is closed")
    }

    /// An error of SQLite, classified.
    pub fn from_path(path: &Path, error: &rusqlite::Error) -> Self {
        let (failure, reason) = classified(error);
        Self::new(path, failure, reason)
    }

    /// The kind.
    pub fn failure(&self) -> StoreFailure {
        self.failure
    }
}

fn classified(error: &rusqlite::Error) -> (StoreFailure, String) {
    let rusqlite::Error::SqliteFailure(cause, _) = error else {
        return (StoreFailure::Other, error.to_string());
    };
    let (failure, text) = match cause.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            (StoreFailure::Busy, "another process holds the file")
        }
        ErrorCode::DiskFull => (StoreFailure::Full, "the disk is full"),
        // Beyond a limit on the size of files, writing fails without a code of its own.
        ErrorCode::SystemIoFailure => (StoreFailure::Full, "the file cannot be extended or read"),
        ErrorCode::ReadOnly => (StoreFailure::ReadOnly, "the file cannot be written"),
        ErrorCode::CannotOpen => (StoreFailure::CannotOpen, "the file cannot be opened"),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            (StoreFailure::Corrupt, "the file is damaged or is not a database")
        }
        _ => return (StoreFailure::Other, error.to_string()),
    };
    (failure, format!("{text} ({error})"))
}
