//! Processes that have the file open: each locks a file of its own, and the system releases the lock when the
//! process ends, however it does.

use crate::random;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The lock of this process, and those of the others.
pub(super) struct Alive {
    directory: PathBuf,
    name: String,
    /// Locked while it is open.
    _file: File,
}

impl Alive {
    pub(super) fn new(directory: &Path) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        remove_dead(directory);
        let name = format!("{}-{}", std::process::id(), random::hex(16));
        // It gets its name once it is locked, so that others never see it unlocked.
        let temporary = directory.join(format!(".{name}"));
        let file = File::create_new(&temporary)?;
        file.lock()?;
        fs::rename(&temporary, directory.join(&name))?;
        Ok(Self { directory: directory.to_owned(), name, _file: file })
    }

    /// The name of this process in the file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether a process still has the file open.
    pub(super) fn is_alive(&self, name: &str) -> bool {
        name == self.name || is_locked(&self.directory.join(name))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        // The next process removes it otherwise.
        let _ = fs::remove_file(self.directory.join(&self.name));
    }
}

/// Unknown counts as locked: nothing that runs is reported as ended.
fn is_locked(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => file.try_lock().is_err(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Removes the files of processes that ended.
fn remove_dead(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let is_new = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !is_new && !is_locked(&path) {
            let _ = fs::remove_file(path);
        }
    }
}
