//! Reads and writes the files of clients.

use crate::client::Target;
use crate::document::Document;
use crate::entry::Entry;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

/// The text of a file; `None` if it does not exist.
///
/// # Errors
/// It cannot be read, is not UTF-8, or is no regular file.
pub(crate) fn read(file: &Path) -> Result<Option<String>, String> {
    let is_link = fs::symlink_metadata(file).is_ok_and(|it| it.is_symlink());
    match fs::metadata(file) {
        Ok(it) if !it.is_file() => {
            return Err(format!("`{}` is no regular file", file.display()));
        }
        Err(error) if is_link && error.kind() == ErrorKind::NotFound => {
            return Err(format!("`{}` is a link to a file that does not exist", file.display()));
        }
        _ => {}
    }
    match fs::read(file) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| format!("`{}` is not UTF-8; nothing was changed", file.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("`{}` cannot be read: {error}", file.display())),
    }
}

/// The parsed file of a target.
///
/// # Errors
/// It does not parse.
pub(crate) fn parse(target: &Target, text: Option<&str>) -> Result<Document, String> {
    let document = Document::parse(target.client.format, text.unwrap_or_default());
    document.map_err(|problem| {
        format!("`{}` is not valid, so it is left as it is: {problem}", target.file.display())
    })
}

/// The entry of a name, if the file has one.
pub(crate) fn entry(target: &Target, document: &Document, name: &str) -> Option<Entry> {
    let members = document.get(&target.entry_keys(name)).filter(Value::is_object)?;
    Some(Entry::read(target.client.shape, &members))
}

/// The text with an entry.
///
/// # Errors
/// The file cannot be edited.
pub(crate) fn with_entry(
    target: &Target,
    mut document: Document,
    name: &str,
    entry: &Entry,
) -> Result<String, String> {
    let members = entry.members(target.client.shape);
    let set = document.set(&target.entry_keys(name), &members);
    set.map_err(|problem| format!("`{}` was not changed: {problem}", target.file.display()))?;
    Ok(document.text())
}

/// Replaces a file in one step. A link stays, and so do the permissions.
///
/// # Errors
/// It was changed since `before` was read, or it cannot be written.
pub(crate) fn replace(
    file: &Path,
    before: Option<&str>,
    text: &str,
    is_private: bool,
) -> Result<(), String> {
    let problem =
        |error: std::io::Error| format!("`{}` cannot be written: {error}", file.display());
    let real = match before {
        Some(_) => fs::canonicalize(file).map_err(problem)?,
        None => file.to_owned(),
    };
    let folder = real.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(problem)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    if !is_private {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    #[cfg(not(unix))]
    let _ = is_private;
    let mut written = builder.prefix(".install-").tempfile_in(folder).map_err(problem)?;
    written.write_all(text.as_bytes()).map_err(problem)?;
    if before.is_some() {
        let permissions = fs::metadata(&real).map_err(problem)?.permissions();
        written.as_file().set_permissions(permissions).map_err(problem)?;
        keep_owner(&real, written.as_file());
    }
    written.as_file().sync_all().map_err(problem)?;
    if read(file)?.as_deref() != before {
        return Err(format!("`{}` was changed by another program; try again", file.display()));
    }
    written.persist(&real).map_err(|error| problem(error.error))?;
    Ok(())
}

/// A file that root changes stays its owner's.
fn keep_owner(original: &Path, written: &fs::File) {
    #[cfg(unix)]
    if let Ok(original) = fs::metadata(original) {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        let _ = fchown(written, Some(original.uid()), Some(original.gid()));
    }
    #[cfg(not(unix))]
    let _ = (original, written);
}

/// What changes in an entry, with the values of environment variables hidden. Nothing else of the file is shown: it may
/// have secrets of other servers.
pub(crate) fn difference(
    target: &Target,
    name: &str,
    old: Option<&Entry>,
    new: Option<&Entry>,
) -> String {
    let members = |entry: Option<&Entry>| {
        entry.map(|entry| entry.hidden(old).members(target.client.shape)).unwrap_or_default()
    };
    let (before, after) = (members(old), members(new));
    let mut text = format!("  {}:\n", target.entry_keys(name).join("."));
    for (name, value) in &before {
        if after.get(name) != Some(value) {
            let _ = writeln!(text, "- {name}: {value}");
        }
    }
    for (name, value) in &after {
        if before.get(name) != Some(value) {
            let _ = writeln!(text, "+ {name}: {value}");
        }
    }
    text
}
