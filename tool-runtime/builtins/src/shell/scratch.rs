//! Files of the tools: whole outputs, and commands of terminals.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// A directory for temporary files that only its owner can read. Created when it is first needed, removed with its
/// value.
#[derive(Default)]
pub(super) struct Scratch {
    directory: Mutex<Option<TempDir>>,
    files: AtomicU64,
}

impl Scratch {
    /// A path of a new file.
    pub(super) fn path(&self, name: &str) -> io::Result<PathBuf> {
        let mut directory = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        if directory.is_none() {
            let mut builder = tempfile::Builder::new();
            let private =
                builder.prefix("tool-runtime-").permissions(Permissions::from_mode(0o700));
            *directory = Some(private.tempdir()?);
        }
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        let path =
            directory.as_ref().map(|directory| directory.path().join(format!("{number}-{name}")));
        path.ok_or_else(|| io::Error::other("the directory is gone"))
    }

    /// Removes the files.
    pub(super) fn remove(&self) {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
