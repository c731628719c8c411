//! Opening files that others may replace.

use super::Root;
use cap_std::fs::{Dir, File, OpenOptions};
use std::io;
use std::path::Path;
use std::path::PathBuf;

/// Opens a file for reading. Other kinds of files, such as named pipes, do not block.
pub(crate) fn open_file(dir: &Dir, path: impl AsRef<Path>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flag = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, flag);
    }
    dir.open_with(path, &options)
}

impl Root {
    /// Opens a file below the root for reading.
    ///
    /// # Errors
    /// It cannot be opened, or the operator protects it.
    pub(crate) fn open_file(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let path = path.as_ref();
        let file = open_file(self.dir(), path)?;
        self.check_opened(&file, path)?;
        Ok(file)
    }

    /// Checks that tools may read a file that was opened.
    pub(crate) fn check_opened(&self, file: &File, path: &Path) -> io::Result<()> {
        let Some(real) = self.protected().has_places().then(|| real_path(file)) else {
            return Ok(());
        };
        let real = real.unwrap_or_else(|| self.canonical(path));
        match self.protected().hides(&real) {
            None => Ok(()),
            Some(reason) => Err(io::Error::new(io::ErrorKind::Unsupported, format!("it {reason}"))),
        }
    }
}

/// The path of what is opened, as the system knows it: links may have changed since.
#[cfg(target_os = "linux")]
pub(crate) fn real_path(opened: &impl std::os::fd::AsRawFd) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd())).ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn real_path<T>(_: &T) -> Option<PathBuf> {
    None
}
