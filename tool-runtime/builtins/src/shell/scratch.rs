//! Files of the tools: whole outputs, and commands of terminals.
//!
//! Commands in a sandbox can change the directory for temporary files, and replace these files and their directory by
//! links. So files are created and opened through a handle of the directory, which follows no link out of it.

use crate::workspace::open_file;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tool_runtime::__seam::lock;

/// A directory for temporary files that only its owner can read. Created when it is first needed, removed with its
/// value.
pub(super) struct Scratch {
    /// The most bytes of an output.
    max_output: u64,
    directory: Mutex<Option<(TempDir, Arc<Dir>)>>,
    files: AtomicU64,
}

/// A file of a scratch directory, which need not exist.
#[derive(Clone)]
pub(super) struct ScratchFile {
    directory: Arc<Dir>,
    name: String,
    /// The most bytes of an output.
    pub(super) max_output: u64,
    /// For models and commands.
    pub(super) path: PathBuf,
}

impl Scratch {
    /// A directory of outputs that have at most `max_output` bytes.
    pub(super) fn new(max_output: u64) -> Self {
        Self { max_output, directory: Mutex::default(), files: AtomicU64::new(0) }
    }

    /// A file with a new name, which is not created.
    pub(super) fn file(&self, name: &str) -> io::Result<ScratchFile> {
        let mut directory = lock(&self.directory);
        let (folder, handle) = match &*directory {
            Some(known) => known,
            None => directory.insert(create()?),
        };
        let name = format!("{}-{name}", self.files.fetch_add(1, Ordering::Relaxed));
        let path = folder.path().join(&name);
        Ok(ScratchFile { directory: Arc::clone(handle), name, max_output: self.max_output, path })
    }

    /// The file of a path.
    pub(super) fn find(&self, path: &Path) -> Option<ScratchFile> {
        let directory = lock(&self.directory);
        let (_, handle) = directory.as_ref()?;
        let name = path.file_name()?.to_str()?.to_owned();
        let directory = Arc::clone(handle);
        Some(ScratchFile { directory, name, max_output: self.max_output, path: path.to_owned() })
    }

    /// Removes the files.
    pub(super) fn remove(&self) {
        lock(&self.directory).take();
    }
}

fn create() -> io::Result<(TempDir, Arc<Dir>)> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("tool-runtime-").permissions(Permissions::from_mode(0o700));
    let folder = builder.tempdir()?;
    let handle = Dir::open_ambient_dir(folder.path(), ambient_authority())?;
    Ok((folder, Arc::new(handle)))
}

impl ScratchFile {
    /// Creates the file, which only its owner can read.
    ///
    /// # Errors
    /// The name is taken: commands may have done that.
    pub(super) fn create(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        Ok(self.directory.open_with(&self.name, &options)?.into_std())
    }

    /// Creates the file with a content.
    pub(super) fn write(&self, content: &str) -> io::Result<()> {
        self.create()?.write_all(content.as_bytes())
    }

    /// Opens the file for reading. A pipe that replaced it does not block.
    pub(super) fn open(&self) -> io::Result<File> {
        Ok(open_file(&self.directory, &self.name)?.into_std())
    }

    pub(super) fn remove(&self) {
        // It may be gone.
        let _ = self.directory.remove_file(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_in_place_of_files_and_of_the_directory_are_not_followed() {
        let outside = TempDir::new().unwrap();
        let secret = outside.path().join("secret");
        std::fs::write(&secret, "secret").unwrap();
        let scratch = Scratch::new(u64::MAX);
        let (old, new) = (scratch.file("old").unwrap(), scratch.file("new").unwrap());
        old.write("old").unwrap();
        for file in [&old, &new] {
            let _ = std::fs::remove_file(&file.path);
            symlink(&secret, &file.path).unwrap();
            assert!(file.open().is_err() && file.write("x").is_err());
            assert!(scratch.find(&file.path).unwrap().open().is_err());
        }
        let folder = new.path.parent().unwrap();
        std::fs::rename(folder, folder.with_extension("moved")).unwrap();
        symlink(outside.path(), folder).unwrap();
        scratch.file("third").unwrap().write("x").unwrap();
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
        assert_eq!(std::fs::read_to_string(secret).unwrap(), "secret");
        scratch.remove();
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
        std::fs::remove_dir_all(folder.with_extension("moved")).unwrap();
    }
}
