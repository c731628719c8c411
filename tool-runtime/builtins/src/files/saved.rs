//! The old content of files that are written in place.

use super::dir_entry::DirEntry;
use std::collections::{HashMap, VecDeque};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use tempfile::NamedTempFile;
use tool_runtime::__seam::lock;

/// The most characters of a file's name in the name of its copy.
const MAX_NAME: usize = 100;

/// The most copies of one file that a process keeps.
const MAX_COPIES: usize = 10;

/// Writes the content to a new file outside the root, which only its owner can read. Returns its path, which has the name
/// of the file: it is found also if the process is killed before it can tell.
///
/// # Errors
/// No directory for temporary files is outside the root, or the disk is full.
pub(super) fn save(entry: &DirEntry, bytes: &[u8]) -> io::Result<PathBuf> {
    let write = || {
        let prefix = format!("tool-runtime-saved-{}-", plain_name(entry));
        let mut file = create_file(entry, &prefix)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        let (_, path) = file.keep()?;
        remember(entry, &path);
        Ok(path)
    };
    write().map_err(|error: io::Error| {
        let text =
            format!("nothing was written, since the old content could not be saved: {error}");
        io::Error::new(error.kind(), text)
    })
}

/// Creates a file in a directory for temporary files outside the root. One inside is used if the root is the whole file
/// system.
fn create_file(entry: &DirEntry, prefix: &str) -> io::Result<NamedTempFile> {
    let directories = [std::env::temp_dir(), PathBuf::from("/var/tmp")];
    let directories = directories.iter().filter_map(|path| path.canonicalize().ok());
    let is_outside = |path: &PathBuf| !entry.is_in_root(path) || entry.is_in_root(Path::new("/"));
    let mut last = io::Error::other("no directory for temporary files is outside the root");
    for directory in directories.filter(is_outside) {
        match tempfile::Builder::new().prefix(prefix).tempfile_in(directory) {
            Ok(file) => return Ok(file),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Remembers a copy, and removes the oldest one of the same file if there are too many.
fn remember(entry: &DirEntry, copy: &Path) {
    static COPIES: LazyLock<Mutex<HashMap<PathBuf, VecDeque<PathBuf>>>> =
        LazyLock::new(Mutex::default);
    let mut copies = lock(&COPIES);
    let copies = copies.entry(entry.key.clone()).or_default();
    copies.push_back(copy.to_owned());
    if copies.len() > MAX_COPIES
        && let Some(oldest) = copies.pop_front()
    {
        // It may be gone already.
        let _ = std::fs::remove_file(oldest);
    }
}

/// The name of the file, in characters that need no quotation anywhere.
fn plain_name(entry: &DirEntry) -> String {
    let is_plain = |char: &char| char.is_ascii_alphanumeric() || "._-".contains(*char);
    let name = entry.name.to_string_lossy();
    name.chars().map(|char| if is_plain(&char) { char } else { '_' }).take(MAX_NAME).collect()
}
