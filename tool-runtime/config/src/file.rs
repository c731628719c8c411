//! Files that a configuration is read from.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Limit on the size of a configuration, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The text of a file that the user named, which may be a pipe.
///
/// # Errors
/// The file cannot be read, or is too large.
pub(super) fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("it is larger than 16 MiB"));
    }
    let is_utf16 = matches!(*bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [_, 0, ..] | [0, ..]);
    String::from_utf8(bytes).ok().filter(|_| !is_utf16).ok_or_else(|| {
        let encoding = if is_utf16 { "UTF-16" } else { "not UTF-8" };
        io::Error::new(io::ErrorKind::InvalidData, format!("its text is {encoding}"))
    })
}

/// The text of a file that a foreign configuration names: not of a pipe or a device, which may block.
///
/// # Errors
/// The path is not a file, or cannot be read.
pub(super) fn read_regular(path: &Path) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    read(path)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn an_endless_file_is_not_read() {
        let endless = Path::new("/dev/zero");
        assert_eq!(read(endless).unwrap_err().to_string(), "it is larger than 16 MiB");
        assert_eq!(read_regular(endless).unwrap_err().to_string(), "it is not a file");
    }
}
