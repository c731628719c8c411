//! The names of downloaded files.
//!
//! Chromium stores downloads by id. Complete ones get the name that the page suggests, or a free one like it, so that no
//! page replaces a file.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

/// Limit on the bytes of a name, without its number.
const MAX_NAME: usize = 200;
/// Limit on the files of one name.
const MAX_NUMBER: u32 = 1000;
/// The name of downloads without one.
const UNNAMED: &str = "download";

/// The downloads of a browser.
pub(super) struct Downloads {
    directory: PathBuf,
    /// Limit on the bytes of a download.
    pub(super) max_bytes: u64,
    /// The suggested names of unfinished downloads, by id.
    names: HashMap<String, String>,
}

impl Downloads {
    pub(super) fn new(directory: PathBuf, max_bytes: u64) -> Self {
        Self { directory, max_bytes, names: HashMap::new() }
    }

    /// Registers a download.
    pub(super) fn begin(&mut self, id: &str, suggested: &str) {
        self.names.insert(id.to_owned(), valid_name(suggested));
    }

    /// Removes a download that was cancelled.
    pub(super) fn cancelled(&mut self, id: &str) {
        self.names.remove(id);
    }

    /// Names a complete download, or deletes one that is too large. Returns its path, or `None` if it was not registered.
    pub(super) fn complete(&mut self, id: &str) -> Option<io::Result<PathBuf>> {
        let name = self.names.remove(id)?;
        Some(self.name(&self.directory.join(id), &name))
    }

    fn name(&self, file: &Path, name: &str) -> io::Result<PathBuf> {
        // A fast download is complete before its progress is reported.
        if std::fs::metadata(file)?.len() > self.max_bytes {
            std::fs::remove_file(file)?;
            return Err(io::Error::other(format!("it had more than {} bytes", self.max_bytes)));
        }
        let path = free_path(&self.directory, name)?;
        match std::fs::rename(file, &path) {
            Ok(()) => Ok(path),
            Err(error) => std::fs::remove_file(&path).and(Err(error)),
        }
    }
}

/// Creates an empty file whose name is the given one, or that with a number.
fn free_path(directory: &Path, name: &str) -> io::Result<PathBuf> {
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
        _ => (name, String::new()),
    };
    for number in 0..MAX_NUMBER {
        let path = directory.join(match number {
            0 => name.to_owned(),
            _ => format!("{stem} ({number}){extension}"),
        });
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|_| path),
        }
    }
    Err(io::Error::other(format!("{MAX_NUMBER} files of that name exist")))
}

/// A suggested name without separators, control characters and leading dots.
fn valid_name(suggested: &str) -> String {
    let is_separator = |character: char| matches!(character, '/' | '\\');
    let name = suggested.rsplit(is_separator).next().unwrap_or_default();
    let name: String = name.chars().filter(|character| !character.is_control()).collect();
    let name = name.trim_start_matches('.').trim();
    if name.is_empty() {
        return UNNAMED.to_owned();
    }
    // The end has the type of the file.
    let mut ends =
        (name.len().saturating_sub(MAX_NAME)..name.len()).filter_map(|at| name.get(at..));
    ends.next().unwrap_or(UNNAMED).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_directory() {
        for (suggested, name) in [
            ("report.bin", "report.bin"),
            ("../../.bashrc", "bashrc"),
            ("C:\\x\\y.txt", "y.txt"),
            ("..", UNNAMED),
            ("a\u{0}\nb", "ab"),
            ("", UNNAMED),
        ] {
            assert_eq!(valid_name(suggested), name);
        }
        let long = valid_name(&format!("{}.csv", "ä".repeat(300)));
        assert!(long.len() <= MAX_NAME && long.ends_with("ä.csv"), "{long}");
    }

    #[test]
    fn files_are_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str| directory.path().join(name);
        std::fs::write(file("report.tar"), "of the user").unwrap();
        let mut downloads = Downloads::new(directory.path().to_owned(), 1000);
        for (id, name) in [("id-1", "report (1).tar"), ("id-2", "report (2).tar")] {
            std::fs::write(file(id), id).unwrap();
            downloads.begin(id, "report.tar");
            assert_eq!(downloads.complete(id).unwrap().unwrap(), file(name));
            assert_eq!(std::fs::read_to_string(file(name)).unwrap(), id);
        }
        assert_eq!(std::fs::read_to_string(file("report.tar")).unwrap(), "of the user");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3);
        assert!(downloads.complete("id-3").is_none());
    }

    #[test]
    fn a_large_file_is_deleted() {
        let directory = tempfile::tempdir().unwrap();
        let mut downloads = Downloads::new(directory.path().to_owned(), 3);
        std::fs::write(directory.path().join("id"), "four").unwrap();
        downloads.begin("id", "large.bin");
        let error = downloads.complete("id").unwrap().unwrap_err().to_string();
        assert_eq!(error, "it had more than 3 bytes");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
