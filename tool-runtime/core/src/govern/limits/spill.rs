//! Stores removed content in files.

use crate::vocabulary::hex::hex;
use sha2::{Digest as _, Sha256};
use std::fs::{self, DirBuilder, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Stores the removed content of one result, if there is a directory for it.
pub(super) struct Spill<'a> {
    directory: Option<&'a Path>,
    tool: &'a str,
}

impl<'a> Spill<'a> {
    pub(super) fn new(directory: Option<&'a Path>, tool: &'a str) -> Self {
        Self { directory, tool }
    }

    /// The tool that returned the result.
    pub(super) fn tool(&self) -> &str {
        self.tool
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.directory.is_some()
    }

    /// Stores the content and returns the file; `None` without a directory, or if the file cannot be written.
    pub(super) fn store(&self, content: &[u8], extension: &str) -> Option<PathBuf> {
        let directory = self.directory?;
        let path = directory.join(file_name(content, extension));
        match write_private(directory, &path, content) {
            Ok(()) => Some(path),
            Err(error) => {
                let (tool, directory) = (self.tool, directory.display());
                tracing::warn!(tool, %directory, "a whole result could not be stored: {error}");
                None
            }
        }
    }

    /// A path as long as every path that [`Self::store`] returns.
    pub(super) fn sample_path(&self, extension: &str) -> Option<PathBuf> {
        Some(self.directory?.join(file_name(b"", extension)))
    }
}

/// A name by the content's hash: equal contents are stored once.
fn file_name(content: &[u8], extension: &str) -> String {
    let digits = hex(&Sha256::digest(content)[..16]);
    format!("{digits}.{extension}")
}

/// Writes a file that only its owner can read. A rename makes it appear atomically, and does not follow a link at the target path.
fn write_private(directory: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    create_private(directory)?;
    let draft = directory.join(format!(".{:016x}.tmp", RandomState::new().hash_one(path)));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&draft).and_then(|mut file| file.write_all(content));
    let moved = written.and_then(|()| fs::rename(&draft, path));
    if moved.is_err() {
        let _ = fs::remove_file(&draft);
    }
    moved
}

fn create_private(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::govern::limits::tests::Folder;

    fn names(folder: &Folder) -> Vec<String> {
        let entries = fs::read_dir(folder.path()).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn equal_content_is_stored_once() {
        let folder = Folder::new();
        let spill = Spill::new(Some(folder.path()), "t");
        let path = spill.store(b"content", "txt").expect("kept");
        assert_eq!(spill.store(b"content", "txt").as_ref(), Some(&path));
        assert_eq!(fs::read(&path).unwrap(), b"content");
        assert_eq!(names(&folder), [path.file_name().unwrap().to_str().unwrap()]);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_the_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = Folder::new();
        let below = folder.path().join("made/for/it");
        let path = Spill::new(Some(&below), "t").store(b"secret", "txt").expect("stored");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&below)), (0o600, 0o700));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_with_its_name_is_not_followed() {
        let folder = Folder::new();
        let victim = folder.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        let link = folder.path().join(file_name(b"content", "txt"));
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        let path = Spill::new(Some(folder.path()), "t").store(b"content", "txt").expect("stored");
        assert_eq!((fs::read(&path).unwrap(), path), (b"content".to_vec(), link));
        assert_eq!(fs::read_to_string(victim).unwrap(), "mine");
    }

    #[test]
    fn a_failed_write_returns_no_path() {
        let folder = Folder::new();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(Spill::new(Some(&file), "t").store(b"content", "txt"), None);
        assert_eq!(Spill::new(None, "t").store(b"content", "txt"), None);
    }

    #[test]
    fn writers_of_the_same_content_agree() {
        let folder = Folder::new();
        let store = || Spill::new(Some(folder.path()), "t").store(&[7; 100_000], "bin");
        let paths = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(store)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(paths[0].is_some() && paths.iter().all(|path| *path == paths[0]), "{paths:?}");
        assert_eq!(names(&folder).len(), 1);
    }
}
