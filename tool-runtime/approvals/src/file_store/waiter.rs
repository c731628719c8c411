//! Processes whose calls wait. Each holds a lock on a file of its own, which the system releases when the process ends,
//! however it does.

use super::{private, remove};
use crate::digest;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The end of the names of files that are locked.
const PROCESS: &str = ".process";

/// The end of the names of files that name the process of a question.
const WAITER: &str = ".waiter";

/// The lock of this process.
#[derive(Debug)]
pub(super) struct Waiter {
    name: String,
    file: File,
}

impl Waiter {
    /// Takes the lock. Other writers of the directory are kept out meanwhile.
    ///
    /// # Errors
    /// The file cannot be created, or the file system has no locks.
    pub(super) fn new(directory: &Path) -> io::Result<Self> {
        let name = digest::random();
        let file = private::options().create_new(true).open(process_file(directory, &name))?;
        file.try_lock()?;
        Ok(Self { name, file })
    }

    /// Notes that the process waits for a question.
    pub(super) fn wait_for(&self, directory: &Path, id: &str) -> io::Result<()> {
        let options = &mut private::options();
        let mut file = options.create(true).truncate(true).open(waiter_file(directory, id))?;
        write!(file, "{} {}", self.name, machine())
    }
}

/// Closing releases the lock only if no process that starts meanwhile has a copy of the handle.
impl Drop for Waiter {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// Whether the process of a question has ended. False if that is not known: its file is gone, or the process is of another
/// machine, whose locks may not be seen here.
pub(super) fn has_ended(directory: &Path, id: &str) -> bool {
    let named = fs::read_to_string(waiter_file(directory, id)).unwrap_or_default();
    let Some((name, of_machine)) = named.split_once(' ') else { return false };
    let file = || process_file(directory, name);
    digest::is_id(name) && of_machine == machine() && is_free(&file())
}

/// Notes that nobody waits for a question.
pub(super) fn forget(directory: &Path, id: &str) -> io::Result<()> {
    remove(&waiter_file(directory, id))
}

/// Removes the files of processes that have ended and that no question names. Other writers of the directory are kept out
/// meanwhile.
pub(super) fn remove_ended(directory: &Path) -> io::Result<()> {
    let (mut named, mut processes) = (HashSet::new(), Vec::new());
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let Some(file) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if file.ends_with(WAITER) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            named.extend(text.split_once(' ').map(|(name, _)| name.to_owned()));
        } else if let Some(name) = process(file) {
            processes.push(name.to_owned());
        }
    }
    let unnamed = processes.into_iter().filter(|name| !named.contains(name));
    let mut ended = unnamed.map(|name| process_file(directory, &name)).filter(|file| is_free(file));
    ended.try_for_each(|file| remove(&file))
}

/// Whether nobody holds the lock of a file. Those who look at the same time do not keep each other from it.
fn is_free(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock_shared().is_ok())
}

/// The name of a process in that of its file.
fn process(file: &str) -> Option<&str> {
    file.strip_prefix('.')?.strip_suffix(PROCESS).filter(|name| digest::is_id(name))
}

fn process_file(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!(".{name}{PROCESS}"))
}

fn waiter_file(directory: &Path, id: &str) -> PathBuf {
    directory.join(format!("{id}{WAITER}"))
}

/// The running system. Two machines may share a directory and not its locks. Empty where systems have no such id.
fn machine() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim_end().to_owned()
}
