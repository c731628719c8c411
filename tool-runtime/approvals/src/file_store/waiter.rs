//! Processes whose calls wait. Each holds a lock on a file of its own, which the system releases when the process ends,
//! however it does.

use super::{private, remove};
use crate::digest;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The end of the names of the files that are locked.
const END: &str = ".process";

/// The lock of this process.
#[derive(Debug)]
pub(super) struct Waiter {
    name: String,
    file: File,
}

impl Waiter {
    /// Takes the lock. `None` if the file system has no locks. Other writers of the directory are kept out meanwhile.
    ///
    /// # Errors
    /// The file cannot be created.
    pub(super) fn new(directory: &Path) -> io::Result<Option<Self>> {
        let name = digest::random();
        let path = path(directory, &name);
        let file = private::options().create_new(true).open(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { name, file })),
            Err(_) => remove(&path).map(|()| None),
        }
    }

    /// Writes the name of the process into a file.
    pub(super) fn write_name(&self, path: &Path) -> io::Result<()> {
        let mut file = private::options().create(true).truncate(true).open(path)?;
        file.write_all(self.name.as_bytes())
    }
}

/// Closing releases the lock only if no process that starts meanwhile has a copy of the handle.
impl Drop for Waiter {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// Whether the process has ended that a file names. False if that is not known.
pub(super) fn has_ended(directory: &Path, named_in: &Path) -> bool {
    let Ok(name) = fs::read_to_string(named_in) else { return false };
    digest::is_id(&name) && is_free(&path(directory, &name))
}

/// Removes the files of processes that have ended. Other writers of the directory are kept out meanwhile.
pub(super) fn remove_ended(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.as_os_str().to_string_lossy().ends_with(END) && is_free(&path) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Whether nobody holds the lock of a file. Those who look at the same time do not keep each other from it.
fn is_free(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => file.try_lock_shared().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn path(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!(".{name}{END}"))
}
