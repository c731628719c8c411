//! Moving and deleting entries of directories.

use super::Files;
use super::commit::{Before, Change};
use super::dir_entry::{self, DirEntry, describe, missing};
use super::list::EntryKind;
use super::lock;
use super::publish::rename_no_replace;
use super::snapshot::MAX_CHANGED;
use crate::tool_output::ToolOutput;
use crate::workspace::{Location, rendered};
use cap_std::fs::Metadata;
use schemars::JsonSchema;
use serde::Serialize;
use std::io;
use std::path::Path;
use tool_runtime::{ToolContext, ToolError};

/// A move of an entry.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct MoveOutput {
    /// Path of the entry now.
    pub path: String,
    /// Its path before.
    pub moved_from: String,
}

/// The deletion of an entry.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct DeleteOutput {
    /// Path of the entry.
    pub path: String,
    /// Kind of the entry.
    pub kind: EntryKind,
    /// Whether `UndoEdit` restores it.
    pub can_be_undone: bool,
}

impl Files {
    /// Moves a file or directory to a name that is not used.
    pub(super) fn move_entry(
        &self,
        from: &str,
        to: &str,
        context: &ToolContext,
    ) -> Result<ToolOutput<MoveOutput>, ToolError> {
        let [source, target] = [from, to].map(|path| self.workspace.resolve(path));
        let (source, mut target) = (source?, target?);
        if source.path() == target.path() {
            // The new name looks like the old one.
            target = self.workspace.resolve_new(to)?;
        }
        let from = &source.to_string();
        let (entry, metadata) =
            dir_entry::lookup(&source, from)?.ok_or_else(|| missing(&source))?;
        if source.path() == Path::new(".") {
            return Err(ToolError::user(format!("`{from}` is a root of the workspace; it stays")));
        }
        let target = into_directory(target, &entry)?;
        let _one_at_a_time = self.writing();
        let mut directories = Vec::new();
        let moved = rename(&entry, &metadata, &target, &mut directories, context);
        let new = moved.inspect_err(|_| remove_empty(&directories))?;
        self.history().moved(&entry.key, &new.key);
        let text = format!("moved `{from}` to `{}`", new.display_path);
        Ok(ToolOutput::new(
            text,
            MoveOutput { path: new.display_path, moved_from: from.to_owned() },
        ))
    }

    /// Deletes a file, a link or an empty directory.
    pub(super) fn delete_entry(
        &self,
        path: &str,
        context: &ToolContext,
    ) -> Result<ToolOutput<DeleteOutput>, ToolError> {
        let location = self.workspace.resolve(path)?;
        let path = &location.to_string();
        let (entry, metadata) =
            dir_entry::lookup(&location, path)?.ok_or_else(|| missing(&location))?;
        let kind = metadata.file_type();
        if kind.is_file() && metadata.len() <= MAX_CHANGED {
            let change = Change::new(Before::read(&location)?, None);
            self.commit(vec![change], context)?;
            return Ok(deletion_output(path, &metadata, None));
        }
        let _one_at_a_time = self.writing();
        let _locked = lock::directories(&[&entry], context)?;
        if kind.is_dir() {
            remove_directory(&entry)?;
            return Ok(deletion_output(path, &metadata, Some("create it again by `mkdir`")));
        }
        let target = entry.parent.read_link_contents(&entry.name);
        entry.parent.remove_file(&entry.name).map_err(|error| describe(path, &error))?;
        let remedy = match target {
            Ok(target) => format!("create it again by `ln -s {}`", rendered(target)),
            // A large file.
            Err(_) => "its content was not kept".to_owned(),
        };
        Ok(deletion_output(path, &metadata, Some(&remedy)))
    }
}

/// `remedy` is what to do instead of undoing it.
fn deletion_output(
    path: &str,
    metadata: &Metadata,
    remedy: Option<&str>,
) -> ToolOutput<DeleteOutput> {
    let notice = remedy.map(|remedy| format!("; `UndoEdit` does not restore it: {remedy}"));
    let text = format!("deleted `{path}`{}", notice.unwrap_or_default());
    let (path, kind) = (path.to_owned(), EntryKind::from_metadata(metadata));
    ToolOutput::new(text, DeleteOutput { path, kind, can_be_undone: remedy.is_none() })
}

/// Renames an entry, and creates the directories of its new name. Returns the new entry.
fn rename(
    entry: &DirEntry,
    metadata: &Metadata,
    target: &Location,
    directories: &mut Vec<Location>,
    context: &ToolContext,
) -> Result<DirEntry, ToolError> {
    create_parents(target, directories).map_err(|error| describe(&target.to_string(), &error))?;
    let new = DirEntry::of_new(target)?;
    if metadata.is_dir() && new.key.starts_with(&entry.key) {
        return Err(ToolError::user(format!(
            "the directory `{}` cannot be moved into itself, to `{}`; give a name outside it",
            entry.display_path, new.display_path
        )));
    }
    let _locked = lock::directories(&[entry, &new], context)?;
    rename_entry(entry, &new, if metadata.is_dir() { "directory" } else { "file" })?;
    Ok(new)
}

/// Renames an entry of a kind to a name that is not used, in an existing directory.
pub(super) fn rename_entry(from: &DirEntry, to: &DirEntry, kind: &str) -> Result<(), ToolError> {
    let (old, new) = (&from.display_path, &to.display_path);
    rename_no_replace(&from.parent, &from.name, &to.parent, &to.name).map_err(|error| {
        match error.kind() {
            io::ErrorKind::AlreadyExists => already_exists(new),
            io::ErrorKind::CrossesDevices => ToolError::user(format!(
                "`{old}` and `{new}` are on different file systems; write the {kind} there and delete it here"
            )),
            _ => describe(old, &error),
        }
    })
}

/// Creates the directories of an entry, and lists them.
pub(super) fn create_parents(location: &Location, created: &mut Vec<Location>) -> io::Result<()> {
    let dir = location.root().dir();
    let parent = location.path().parent().filter(|parent| !parent.as_os_str().is_empty());
    let Some(parent) = parent else { return Ok(()) };
    let missing = parent.ancestors().take_while(|path| !path.as_os_str().is_empty());
    let missing = missing.take_while(|path| !dir.exists(path));
    created.extend(missing.map(|path| location.with_path(path)));
    dir.create_dir_all(parent)
}

/// Removes directories that are not needed any more. Others may use them already.
pub(super) fn remove_empty(directories: &[Location]) {
    let mut deepest_first: Vec<&Location> = directories.iter().collect();
    deepest_first.sort_by_key(|directory| usize::MAX - directory.path().components().count());
    for directory in deepest_first {
        let _ = directory.root().dir().remove_dir(directory.path());
    }
}

fn remove_directory(entry: &DirEntry) -> Result<(), ToolError> {
    let display_path = &entry.display_path;
    if entry.name == "." {
        return Err(ToolError::user(format!(
            "`{display_path}` is a root of the workspace; it stays"
        )));
    }
    entry.parent.remove_dir(&entry.name).map_err(|error| match error.kind() {
        io::ErrorKind::DirectoryNotEmpty => ToolError::user(format!(
            "`{display_path}` is not empty; delete its entries first, or run a command"
        )),
        _ => describe(display_path, &error),
    })
}

/// A directory as target means an entry in it.
fn into_directory(target: Location, source: &DirEntry) -> Result<Location, ToolError> {
    match dir_entry::lookup(&target, &target.to_string())? {
        Some((_, metadata)) if metadata.is_dir() => {
            Ok(target.with_path(target.path().join(&source.name)))
        }
        _ => Ok(target),
    }
}

/// The error for a new name that is used.
fn already_exists(display_path: &str) -> ToolError {
    ToolError::user(format!("`{display_path}` exists; delete it first, or give another name"))
}
