//! Names of files: rendered for models and people, and found by what they write.
//!
//! A name is rendered with escapes for what would be invisible or change its line: `\n`, `\u{202e}`, `\xff` for a byte
//! that is not UTF-8. Tools take such a rendered name for the entry.

use super::Location;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use tool_runtime::__seam::{ascii_name, escaped_name, look_alike};
use tool_runtime::ToolError;

/// Entries of a directory among which a name is looked for.
const MAX_ENTRIES: usize = 10_000;

/// A path as one line without invisible characters.
pub(crate) fn rendered(path: impl AsRef<Path>) -> String {
    render(path.as_ref().as_os_str(), escaped_name)
}

#[cfg(unix)]
fn render(name: &OsStr, escape: impl Fn(&str) -> Cow<'_, str>) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    let mut text = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        text.push_str(&escape(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

#[cfg(not(unix))]
fn render(name: &OsStr, escape: impl Fn(&str) -> Cow<'_, str>) -> String {
    escape(&name.to_string_lossy()).into_owned()
}

/// The name of an entry that a given name means.
enum NameMatch {
    /// It is rendered like the given one.
    Rendered(OsString),
    /// It looks like the given one.
    Alike(OsString),
}

impl NameMatch {
    fn into_inner(self) -> OsString {
        match self {
            Self::Rendered(name) | Self::Alike(name) => name,
        }
    }
}

impl Location {
    /// The location with the names of entries that exist: where a name does not exist, the only one that looks like it, or
    /// that is rendered like it. A name that exists always wins. Unchanged if there is none.
    ///
    /// # Errors
    /// Several names look like a given one, or the only one leads to a link.
    pub(super) fn with_existing_names(self) -> Result<Self, ToolError> {
        let dir = self.root().dir();
        if self.path().components().all(|part| is_plain(part.as_os_str()))
            || dir.symlink_metadata(self.path()).is_ok()
        {
            return Ok(self);
        }
        let mut found = PathBuf::new();
        let mut is_alike = false;
        for part in self.path().components() {
            let next = found.join(part);
            let is_missing = matches!(part, Component::Normal(_))
                && dir
                    .symlink_metadata(&next)
                    .is_err_and(|error| error.kind() == ErrorKind::NotFound);
            let name = if is_missing { self.look_for(&found, part.as_os_str())? } else { None };
            is_alike |= matches!(name, Some(NameMatch::Alike(_)));
            found = name.map_or(next, |name| found.join(name.into_inner()));
            // A policy compared the target of no link, since the given path does not exist.
            if is_alike && dir.symlink_metadata(&found).is_ok_and(|entry| entry.is_symlink()) {
                return Err(link(&self, &found));
            }
        }
        Ok(self.with_path(found))
    }

    /// The name in a directory that a given one means.
    fn look_for(&self, directory: &Path, given: &OsStr) -> Result<Option<NameMatch>, ToolError> {
        let Some(given) = given.to_str().filter(|given| !is_plain(OsStr::new(given))) else {
            return Ok(None);
        };
        let names = self.names_in(directory);
        let is_rendered = |name: &&OsString| {
            render(name, escaped_name) == given || render(name, ascii_name) == given
        };
        let rendered: Vec<_> = names.iter().filter(is_rendered).collect();
        if let [only] = *rendered {
            return Ok(Some(NameMatch::Rendered(only.clone())));
        }
        let wanted = look_alike(given);
        let is_alike =
            |name: &&OsString| name.to_str().is_some_and(|name| look_alike(name) == wanted);
        let alike: Vec<_> = names.iter().filter(is_alike).collect();
        match *alike {
            [] => Ok(None),
            [only] => Ok(Some(NameMatch::Alike(only.clone()))),
            ref several => Err(ambiguous(self, directory, given, several)),
        }
    }

    /// The names in a directory. None if there are too many, or if it cannot be read.
    fn names_in(&self, directory: &Path) -> Vec<OsString> {
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        let Ok(entries) = self.root().dir().read_dir(directory) else { return Vec::new() };
        let names = entries.take(MAX_ENTRIES + 1).flatten().map(|entry| entry.file_name());
        let mut names: Vec<OsString> = names.collect();
        if names.len() > MAX_ENTRIES {
            names.clear();
        }
        names.sort();
        names
    }
}

/// Whether a name has neither characters that others look like, nor escapes.
fn is_plain(name: &OsStr) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    name.as_encoded_bytes().iter().all(is_plain)
}

fn ambiguous(location: &Location, directory: &Path, given: &str, names: &[&OsString]) -> ToolError {
    let names = names.iter().map(|name| format!("`{}`", render(name, ascii_name)));
    let names: Vec<String> = names.collect();
    ToolError::user(format!(
        "`{}` does not exist, and several names look like it: {}; give one of these, with its escapes",
        location.with_path(directory.join(given)),
        names.join(", ")
    ))
}

fn link(location: &Location, found: &Path) -> ToolError {
    ToolError::user(format!(
        "`{location}` does not exist; the link `{}` looks like it: give this path, with its escapes",
        render(found.as_os_str(), ascii_name)
    ))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::workspace::Workspace;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;

    /// The entry that a path means, in a directory with these names.
    fn found(names: &[&str], path: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let workspace = Workspace::builder().root(folder.path()).build().unwrap();
        let location = workspace.resolve(path).map_err(|error| error.message().to_owned())?;
        Ok(location.path().to_str().unwrap().to_owned())
    }

    #[test]
    fn a_name_is_found_by_one_that_looks_like_it() {
        for (name, given) in [
            ("cafe\u{301}/re\u{301}sume\u{301}.txt", "café/résumé.txt"),
            ("Screenshot 3.04.05\u{202f}PM.png", "Screenshot 3.04.05 PM.png"),
            ("it\u{2019}s.txt", "it's.txt"),
            ("a b.txt", "a\u{a0}b.txt"),
            ("a\n\u{202e}b", r"a\n\u{202e}b"),
        ] {
            assert_eq!(found(&[name], given).as_deref(), Ok(name));
        }
        assert_eq!(found(&["cafe.txt"], "café.txt").as_deref(), Ok("café.txt"), "another name");
    }

    #[test]
    fn an_exact_name_wins_and_several_are_told_apart() {
        let names = ["it\u{2018}s", "it\u{2019}s"];
        assert_eq!(found(&names, names[1]).as_deref(), Ok(names[1]));
        assert_eq!(
            found(&names, "it's").unwrap_err(),
            r"`it's` does not exist, and several names look like it: `it\u{2018}s`, `it\u{2019}s`; give one of these, with its escapes"
        );
        assert_eq!(found(&names, r"it\u{2018}s").as_deref(), Ok(names[0]));
        let names = [r"a\n", "a\n"];
        assert_eq!(found(&names, r"a\n").as_deref(), Ok(r"a\n"));
    }

    #[test]
    fn a_link_is_not_followed_by_a_name_that_looks_like_its_own() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("cafe\u{301}")).unwrap();
        fs::write(folder.path().join("server.key"), "").unwrap();
        std::os::unix::fs::symlink("../server.key", folder.path().join("cafe\u{301}/link"))
            .unwrap();
        let workspace = Workspace::builder().root(folder.path()).build().unwrap();
        let error = workspace.resolve("café/link").unwrap_err();
        let expected = r"`café/link` does not exist; the link `cafe\u{301}/link` looks like it: give this path, with its escapes";
        assert_eq!(error.message(), expected);
        assert!(workspace.resolve(r"cafe\u{301}/link").is_ok());
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_rendered() {
        assert_eq!(rendered(OsStr::from_bytes(b"caf\xe9/\n")), r"caf\xe9/\n");
    }
}
