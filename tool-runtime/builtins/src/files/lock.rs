//! Exclusion of other processes that run these tools: between the comparison of a file with the version that was read
//! and its replacement, none of them changes an entry of the directory.
//!
//! The directories themselves are locked (`flock`), which leaves no file behind, and ends with the process. Where this is
//! not possible (Windows, some network file systems, a directory without permission to list it), changes are only
//! compared.

use super::dir_entry::{DirEntry, describe};
use cap_std::fs::Dir;
use std::fs::{File, TryLockError};
use std::io;
use std::time::{Duration, Instant};
use tool_runtime::{ToolContext, ToolError};

/// Time after which a lock that others hold is an error.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Time between two attempts.
const INTERVAL: Duration = Duration::from_millis(1);

/// Locks until it is dropped.
#[must_use]
pub(super) struct Locked {
    _files: Vec<File>,
}

/// Locks the directories of entries that are to be changed, in one order for all processes.
///
/// # Errors
/// Tools must not change an entry, others hold a lock for long, or the call was cancelled.
pub(super) fn directories(
    entries: &[&DirEntry],
    context: &ToolContext,
) -> Result<Locked, ToolError> {
    let mut files = Vec::new();
    for entry in entries {
        entry.check_changes()?;
        let opened = open(&entry.parent).map_err(|error| describe(&entry.display_path, &error))?;
        files.extend(opened.map(|(identity, file)| (identity, &entry.display_path, file)));
    }
    files.sort_by_key(|(identity, ..)| *identity);
    files.dedup_by_key(|(identity, ..)| *identity);
    let lock = |(_, display_path, file): (_, &String, File)| {
        acquire(&file, Some(context)).map_err(|error| describe(display_path, &error))?;
        Ok(file)
    };
    Ok(Locked { _files: files.into_iter().map(lock).collect::<Result<_, ToolError>>()? })
}

/// Locks a file, until it is closed.
///
/// # Errors
/// Others hold the lock for long, or the call was cancelled.
pub(super) fn acquire(file: &File, context: Option<&ToolContext>) -> io::Result<()> {
    let deadline = Instant::now() + TIME_LIMIT;
    let is_cancelled = || context.is_some_and(ToolContext::is_cancelled);
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if is_cancelled() => {
                return Err(io::Error::other("the call was cancelled; nothing was changed"));
            }
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                let text = "another process keeps the file or its directory locked; try again";
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(INTERVAL),
            // The file system may have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(()),
        }
    }
}

/// A directory with its identity. `None` if it must not be listed.
#[cfg(unix)]
fn open(directory: &Dir) -> io::Result<Option<((u64, u64), File)>> {
    use std::os::unix::fs::MetadataExt as _;
    let file = match directory.open(".") {
        Ok(file) => file.into_std(),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    Ok(Some(((metadata.dev(), metadata.ino()), file)))
}

#[cfg(not(unix))]
fn open(_: &Dir) -> io::Result<Option<((u64, u64), File)>> {
    Ok(None)
}
