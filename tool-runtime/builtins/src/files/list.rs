//! Listing a directory.

use super::Files;
use super::dir_entry::{self, Target, describe, missing};
use crate::tool_output::ToolOutput;
use crate::workspace::{Location, rendered};
use cap_std::fs::Metadata;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tool_runtime::{ToolContext, ToolError};

/// Entries of a list.
const MAX_ENTRIES: usize = 500;

/// Entries of one directory that are looked at.
const MAX_READ: usize = 100_000;

/// A list of a directory.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ListOutput {
    /// Path of the directory.
    pub path: String,
    /// Its entries, by name, each directory followed by its own.
    pub entries: Vec<Entry>,
    /// Whether entries are left out because there are too many.
    pub truncated: bool,
    /// A remark on entries that are left out because they may not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Entry {
    /// Path relative to the directory that is listed.
    pub path: String,
    /// Kind of the entry.
    pub kind: EntryKind,
    /// Size in bytes, of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum EntryKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

impl Files {
    pub(super) fn list(
        &self,
        path: &str,
        depth: usize,
        context: &ToolContext,
    ) -> Result<ToolOutput<ListOutput>, ToolError> {
        let location = self.workspace.resolve(path)?;
        let found = match dir_entry::find(&location)? {
            Target::Directory(found) => found,
            Target::Missing(location) => return Err(missing(&location)),
            Target::File(_) => {
                return Err(ToolError::user(format!("`{location}` is a file; read it instead")));
            }
        };
        let mut list = List { entries: Vec::new(), truncated: false, denied: 0, context };
        list.add_all(&found, depth)?;
        let List { entries, truncated, denied, .. } = list;
        let notice =
            (denied > 0).then(|| format!("entries left out that may not be read: {denied}"));
        let output = ListOutput { path: location.to_string(), entries, truncated, notice };
        Ok(ToolOutput::new(text_of(&output), output))
    }
}

/// Collects the entries of a directory.
struct List<'c> {
    entries: Vec<Entry>,
    truncated: bool,
    denied: u64,
    context: &'c ToolContext,
}

impl List<'_> {
    /// Adds the entries of a directory and of those below it, level by level: a limit cuts the deepest ones.
    fn add_all(&mut self, directory: &Location, depth: usize) -> Result<(), ToolError> {
        let mut below = self.add(directory, Path::new(""))?;
        for _ in 1..depth {
            for path in std::mem::take(&mut below) {
                if self.entries.len() == MAX_ENTRIES {
                    self.truncated = true;
                    break;
                }
                let inner = directory.with_path(directory.path().join(&path));
                // One that cannot be read is listed without entries.
                below.extend(self.add(&inner, &path).unwrap_or_default());
            }
        }
        self.entries.sort_by(|a, b| Path::new(&a.path).cmp(Path::new(&b.path)));
        Ok(())
    }

    /// Adds the entries of one directory. Returns the paths of its directories.
    fn add(&mut self, directory: &Location, prefix: &Path) -> Result<Vec<PathBuf>, ToolError> {
        let display_path = directory.to_string();
        let read = directory.root().dir().read_dir(directory.path());
        let read = read.map_err(|error| describe(&display_path, &error))?;
        let mut found = Vec::new();
        for entry in read {
            if found.len() == MAX_READ || self.context.is_cancelled() {
                self.truncated = true;
                break;
            }
            let entry = entry.map_err(|error| describe(&display_path, &error))?;
            found.push((entry.file_name(), entry));
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut directories = Vec::new();
        let canonical = directory.canonical();
        for (name, entry) in found {
            if self.entries.len() == MAX_ENTRIES || self.context.is_cancelled() {
                self.truncated = true;
                return Ok(Vec::new());
            }
            // Deleted meanwhile.
            let Ok(metadata) = entry.metadata() else { continue };
            if !directory.lets_read(&canonical.join(&name), self.context) {
                self.denied += 1;
                continue;
            }
            let path = prefix.join(&name);
            let kind = EntryKind::from_metadata(&metadata);
            let size = (kind == EntryKind::File).then(|| metadata.len());
            self.entries.push(Entry { path: rendered(&path), kind, size });
            if kind == EntryKind::Directory {
                directories.push(path);
            }
        }
        Ok(directories)
    }
}

impl EntryKind {
    pub(super) fn from_metadata(metadata: &Metadata) -> Self {
        match metadata.file_type() {
            kind if kind.is_file() => Self::File,
            kind if kind.is_dir() => Self::Directory,
            kind if kind.is_symlink() => Self::Link,
            _ => Self::Other,
        }
    }
}

fn text_of(output: &ListOutput) -> String {
    let ListOutput { entries, truncated, notice, .. } = output;
    let mut text = String::new();
    for Entry { path, kind, size } in entries {
        let _ = match (kind, size) {
            (EntryKind::Directory, _) => writeln!(text, "{path}/"),
            (EntryKind::Link, _) => writeln!(text, "{path} (link)"),
            (_, Some(size)) => writeln!(text, "{path} ({size} bytes)"),
            _ => writeln!(text, "{path} (special)"),
        };
    }
    if entries.is_empty() && notice.is_none() {
        text.push_str("[the directory is empty]\n");
    }
    if let Some(notice) = notice {
        let _ = writeln!(text, "[{notice}]");
    }
    if *truncated {
        let count = entries.len();
        let _ = writeln!(
            text,
            "[the first {count} entries; list a subdirectory, or find files by name with `Glob`]"
        );
    }
    text
}
