//! Files as URIs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// Characters of a path that are not encoded.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The URI of an absolute path.
pub(super) fn from_path(path: &Path) -> String {
    format!("file://{}", percent_encode(path.as_os_str().as_bytes(), ENCODED))
}

/// The path of a URI. `None` if it is not that of a file of this machine.
pub(super) fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = rest.split(['?', '#']).next().filter(|path| path.starts_with('/'))?;
    Some(OsString::from_vec(percent_decode_str(path).collect()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_their_uris() {
        for name in ["/a/b.py", "/a b/ä#?%.py", "/@scope/x(1)+[2].ts"] {
            assert_eq!(path(&from_path(Path::new(name))), Some(PathBuf::from(name)));
        }
        assert_eq!(from_path(Path::new("/a b/ä.py")), "file:///a%20b/%C3%A4.py");
        assert_eq!(path("file://localhost/a"), Some("/a".into()));
        for other in ["untitled:a", "file://host/a", "http://a/b", "jdt://x"] {
            assert_eq!(path(other), None);
        }
    }
}
