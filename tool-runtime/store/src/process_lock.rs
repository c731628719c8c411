//! A lock by which one process at a time uses a database. SQLite's own locks would end with another handle of the same file.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// The lock of the process that uses a database, on a file next to it. The system releases it when the process ends, however
/// it does; dropping it releases it, too.
#[derive(Debug)]
pub struct ProcessLock(File);

impl ProcessLock {
    /// Takes the lock on the file of the database with `suffix` after its name. `None` if it is taken.
    ///
    /// # Errors
    /// The file of the lock cannot be created, written or locked.
    pub fn take(database: &Path, suffix: &str) -> io::Result<Option<Self>> {
        let file = open(database, suffix)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Whether the lock is taken. False if its file cannot be opened.
    pub fn is_taken(database: &Path, suffix: &str) -> bool {
        open(database, suffix).is_ok_and(|file| match file.try_lock_shared() {
            Ok(()) => {
                // Closing may not release it, see `Drop`.
                let _ = file.unlock();
                false
            }
            Err(_) => true,
        })
    }
}

/// Closing releases the lock only if no process that starts meanwhile has a copy of the handle.
impl Drop for ProcessLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// The file stays: one that is removed while another process opens it would be two locks.
fn open(database: &Path, suffix: &str) -> io::Result<File> {
    let mut path = database.as_os_str().to_owned();
    path.push(suffix);
    File::options().create(true).truncate(false).write(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::ProcessLock;

    #[test]
    fn a_lock_is_taken_once_until_it_is_dropped() {
        let folder = std::env::temp_dir().join(format!("store-lock-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let database = folder.join("a.db");
        let lock = ProcessLock::take(&database, ".lock").unwrap().expect("a free lock");
        assert!(ProcessLock::is_taken(&database, ".lock"));
        assert!(ProcessLock::take(&database, ".lock").unwrap().is_none());
        assert!(!ProcessLock::is_taken(&database, ".host"));
        drop(lock);
        assert!(!ProcessLock::is_taken(&database, ".lock"));
        assert!(ProcessLock::take(&database, ".lock").unwrap().is_some());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
