//! The file that a log has open: whether its name still leads to it. Records written to a file without a name are lost.

use crate::error::{LogError, LogErrorKind};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What to do when the file is gone.
const TO_DO: &str = "put it back or restart; save records by `log export` and limit them by `keep_days` or `keep_for`, not by moving the file";

/// The name of a file, and which file it was when the log opened it.
#[derive(Debug)]
pub(crate) struct OpenFile {
    path: PathBuf,
    opened: OnceLock<Identity>,
}

impl OpenFile {
    pub(crate) fn new(path: &Path) -> Result<Self, LogError> {
        let path = std::path::absolute(path).map_err(|error| LogError::io(path, &error))?;
        Ok(Self { path, opened: OnceLock::new() })
    }

    /// Notes the file that was opened just now.
    pub(crate) fn note(&self) -> Result<(), LogError> {
        let found = fs::metadata(&self.path).map_err(|error| LogError::io(&self.path, &error))?;
        self.opened.get_or_init(|| identity(&found));
        Ok(())
    }

    /// Checks that the name leads to the file, if one was opened.
    ///
    /// # Errors
    /// It leads to none, or to another one.
    pub(crate) fn check(&self) -> Result<(), LogError> {
        let Some(opened) = self.opened.get() else { return Ok(()) };
        let path = self.path.display();
        let what = match fs::metadata(&self.path) {
            Ok(found) if identity(&found) == *opened => return Ok(()),
            Ok(_) => format!("`{path}` is another file than the log has open"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                format!("the log `{path}` is open and was removed or renamed")
            }
            // It can be written nevertheless: rights may have been given up.
            Err(_) => return Ok(()),
        };
        Err(LogError::new(LogErrorKind::NotFound, format!("{what}: {TO_DO}")))
    }
}

/// The device and the number of the file.
#[cfg(unix)]
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(file: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    (file.dev(), file.ino())
}

/// Elsewhere, that there is one.
#[cfg(not(unix))]
type Identity = ();

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {}
