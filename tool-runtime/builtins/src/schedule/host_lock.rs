//! One host for each file: it holds a lock, which the system releases when its process ends, however it does.

use super::builder::ScheduleError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The lock of the host of a file. Dropping it releases the lock.
pub(super) struct HostLock(File);

impl HostLock {
    /// `None` if another host has it.
    ///
    /// # Errors
    /// The file of the lock cannot be written.
    pub(super) fn take(database: &Path) -> Result<Option<Self>, ScheduleError> {
        let failed = |error| ScheduleError::Store(format!("the lock of its host: {error}"));
        let file = open(database).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Whether a host has the lock.
    pub(super) fn is_taken(database: &Path) -> bool {
        open(database).is_ok_and(|file| match file.try_lock_shared() {
            Ok(()) => {
                // Not left to the closing, as below.
                let _ = file.unlock();
                false
            }
            Err(_) => true,
        })
    }
}

/// Closing releases the lock only if no process that starts meanwhile has a copy of the handle.
impl Drop for HostLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// The file stays: one that is removed while another process opens it would be two locks.
fn open(database: &Path) -> io::Result<File> {
    let mut path = database.as_os_str().to_owned();
    path.push(".host");
    OpenOptions::new().create(true).truncate(false).write(true).open(PathBuf::from(path))
}
