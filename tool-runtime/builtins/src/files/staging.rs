//! Directories for new bytes that git does not take.
//!
//! New bytes are written next to the file that they replace, since a rename does not leave a file system. The directory
//! that holds them has a `.gitignore` that excludes all of it: what a killed process leaves is not added to a commit.

use cap_std::fs::{Dir, DirBuilder, File, OpenOptions};
use std::ffi::OsString;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// The name of the new file.
pub(super) const FILE: &str = "new";
/// The file that git reads, and what it says: exclude everything here, also this file.
const IGNORE: (&str, &str) = (".gitignore", "*\n");

/// A directory for one new file. Dropping it removes it.
pub(super) struct Staging<'p> {
    parent: &'p Dir,
    name: OsString,
    pub(super) dir: Dir,
}

impl<'p> Staging<'p> {
    /// Creates a directory, which only its owner can read, under a name that is not used.
    ///
    /// # Errors
    /// `parent` takes no new entries.
    pub(super) fn create(parent: &'p Dir) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            // Not derived from the name of the file, which may have the greatest length.
            let name = OsString::from(format!(".edit-{}-{number}.tmp", std::process::id()));
            match parent.create_dir_with(&name, &builder()) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => {
                    created?;
                    let staging = Self { parent, dir: parent.open_dir(&name)?, name };
                    write_ignore_file(&staging.dir)?;
                    return Ok(staging);
                }
            }
        }
    }

    /// Creates the new file. Bytes of an existing file are for its owner until it has the permissions of that.
    pub(super) fn create_file(&self, is_private: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, if is_private { 0o600 } else { 0o666 });
        #[cfg(not(unix))]
        let _ = is_private;
        self.dir.open_with(FILE, options.write(true).create_new(true))
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        // The file is gone if it was renamed. The other one goes last.
        let _ = self.dir.remove_file(FILE);
        let _ = self.dir.remove_file(IGNORE.0);
        let _ = self.parent.remove_dir(&self.name);
    }
}

fn builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

fn write_ignore_file(dir: &Dir) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if link_whole_file(dir).is_ok() {
        return Ok(());
    }
    dir.write(IGNORE.0, IGNORE.1)
}

/// The file gets its name when it is complete: git would take an empty one. Some file systems lack files without names.
#[cfg(target_os = "linux")]
fn link_whole_file(dir: &Dir) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat};
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mut file = std::fs::File::from(openat(dir, ".", flags, Mode::from_raw_mode(0o600))?);
    file.write_all(IGNORE.1.as_bytes())?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, path, dir, IGNORE.0, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use tempfile::TempDir;

    /// What a process leaves that is killed before it renames.
    #[test]
    fn git_takes_nothing_of_a_directory_that_was_left() {
        let folder = TempDir::new().unwrap();
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.args(arguments).current_dir(folder.path()).stderr(Stdio::inherit());
            String::from_utf8(git.output().unwrap().stdout).unwrap()
        };
        git(&["init", "-q"]);
        let dir = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        let staging = Staging::create(&dir).unwrap();
        staging.create_file(true).unwrap();
        git(&["add", "--all"]);
        assert_eq!(git(&["status", "--short"]), "");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
        drop(staging);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
