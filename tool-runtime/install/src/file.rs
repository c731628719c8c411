//! Reads and writes the files of clients.

use crate::client::Target;
use crate::document::Document;
use crate::entry::Entry;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Longer lines of a difference are cut: a file may be one line.
const LINE_CHARS: usize = 160;

/// The text of a file; `None` if it does not exist.
///
/// # Errors
/// It cannot be read, or is not UTF-8.
pub(crate) fn read(file: &Path) -> Result<Option<String>, String> {
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
        format!("`{}` is not valid, and was not changed: {problem}", target.file.display())
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

/// The file in which the text from before a registration is kept.
pub(crate) fn backup(target: &Target, name: &str) -> PathBuf {
    let mut file: OsString = target.file.file_name().unwrap_or_default().to_owned();
    file.push(format!(".{name}.bak"));
    target.file.with_file_name(file)
}

/// The text from before the registration, if the entry is all that has changed since: `Some(None)` if there was no file.
///
/// # Errors
/// The backup cannot be read.
pub(crate) fn original(
    target: &Target,
    name: &str,
    entry: &Entry,
    text: &str,
) -> Result<Option<Option<String>>, String> {
    let original = read(&backup(target, name))?;
    let Ok(document) =
        Document::parse(target.client.format, original.as_deref().unwrap_or_default())
    else {
        return Ok(None);
    };
    let is_original = document.get(&target.entry_keys(name)).is_none()
        && with_entry(target, document, name, entry).is_ok_and(|registered| registered == text);
    Ok(is_original.then_some(original))
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
    }
    written.as_file().sync_all().map_err(problem)?;
    if read(file)?.as_deref() != before {
        return Err(format!("`{}` was changed by another program; try again", file.display()));
    }
    written.persist(&real).map_err(|error| problem(error.error))?;
    Ok(())
}

/// The lines that change, without their neighbours: those may have secrets of other servers. Values of environment
/// variables are hidden.
pub(crate) fn difference(before: &str, after: &str, hidden: &[(String, String)]) -> String {
    let mut text = String::new();
    for change in TextDiff::from_lines(before, after).iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Equal => continue,
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        let line = hide(change.value().trim_end_matches(['\r', '\n']), hidden);
        let shown: String = line.chars().take(LINE_CHARS).collect();
        let cut = if shown.len() < line.len() { " .." } else { "" };
        let _ = writeln!(text, "{sign} {shown}{cut}");
    }
    text
}

fn hide(line: &str, hidden: &[(String, String)]) -> String {
    let mut line = line.to_owned();
    for (name, value) in hidden {
        let Some(start) = line.find(name.as_str()).map(|start| start + name.len()) else {
            continue;
        };
        let (before, after) = line.split_at(start);
        let quoted = serde_json::to_string(value).unwrap_or_default();
        let masked = after.replace(&quoted, "\"***\"");
        let masked = match value.is_empty() || masked != after {
            true => masked,
            false => after.replace(value.as_str(), "***"),
        };
        line = format!("{before}{masked}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_hides_values_of_variables_and_all_other_lines() {
        let hidden = [("KEY".to_owned(), "s\"1".to_owned())];
        let after = "{\n  \"other\": \"s3cret\",\n  \"KEY\": \"s\\\"1\"\n}\n";
        let shown = difference("{\n  \"other\": \"s3cret\"\n}\n", after, &hidden);
        assert!(!shown.contains("s\\\"1") && shown.contains("+   \"KEY\": \"***\""), "{shown}");
        let one_line = "x".repeat(1000);
        assert!(difference("", &one_line, &[]).len() < 200);
    }
}
