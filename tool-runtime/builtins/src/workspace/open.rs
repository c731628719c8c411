//! Opening files that others may replace.

use cap_std::fs::{Dir, File, OpenOptions};
use std::io;
use std::path::Path;

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
