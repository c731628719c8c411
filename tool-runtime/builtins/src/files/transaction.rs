//! Writing several changes: all or none.
//!
//! New bytes are written to temporary files first. When all of them are on disk, each step is made. If one fails, the
//! steps before it are reverted.

use super::commit::Change;
use super::dir_entry::{self, DirEntry, describe};
use super::directory::{create_parents, remove_empty, rename_entry};
use super::lock;
use super::publish::{Staged, changed};
use super::snapshot::{MAX_CHANGED, Snapshot};
use crate::workspace::Location;
use cap_std::fs::Permissions;
use std::path::PathBuf;
use tool_runtime::{ToolContext, ToolError};

/// Changes that were made.
pub(super) struct Written {
    /// The keys of the files; of those that were moved, those of their new names.
    pub(super) keys: Vec<PathBuf>,
    /// Remarks about files that were written in place.
    pub(super) notices: Vec<String>,
}

/// Makes all changes, or none, and does not record them. The caller excludes other calls of the workspace.
///
/// # Errors
/// A file changed meanwhile or cannot be written, or the call was cancelled.
pub(super) fn write_changes(
    changes: &[Change],
    context: &ToolContext,
) -> Result<Written, ToolError> {
    let mut directories = Vec::new();
    write_all(changes, &mut directories, context).inspect_err(|_| remove_empty(&directories))
}

fn write_all(
    changes: &[Change],
    directories: &mut Vec<Location>,
    context: &ToolContext,
) -> Result<Written, ToolError> {
    changes.iter().try_for_each(check_size)?;
    let targets = changes.iter().map(|change| target(change, directories));
    let targets: Vec<Option<DirEntry>> = targets.collect::<Result<_, _>>()?;
    let (mut steps, mut keys, count) = (Vec::new(), Vec::new(), changes.len());
    for (number, (change, target)) in changes.iter().zip(&targets).enumerate() {
        let (key, of_change) = steps_of(change, target.as_ref())?;
        keys.push(key);
        for step in of_change {
            // Before a temporary file is written next to it.
            step.entries().try_for_each(DirEntry::check_changes)?;
            steps.push((step.stage()?, step));
        }
        if count > 1 {
            context.progress(count + number + 1, 2 * count, "files written");
        }
    }
    if context.is_cancelled() {
        return Err(ToolError::user("the call was cancelled; nothing was changed"));
    }
    let entries: Vec<&DirEntry> = steps.iter().flat_map(|(_, step)| step.entries()).collect();
    let _locked = lock::directories(&entries, context)?;
    let (mut done, mut notices) = (Vec::with_capacity(steps.len()), Vec::new());
    for (staged, step) in steps {
        match step.make(staged) {
            Ok(notice) => {
                notices.extend(notice);
                done.push(step);
            }
            Err(error) => return Err(revert(&done, error)),
        }
    }
    Ok(Written { keys, notices })
}

/// A larger file could be neither restored nor changed again.
fn check_size(change: &Change) -> Result<(), ToolError> {
    let length = change.after.as_ref().map_or(0, Vec::len);
    if length as u64 <= MAX_CHANGED {
        return Ok(());
    }
    Err(ToolError::user(format!(
        "`{}` would have {length} bytes, and files of more than {MAX_CHANGED} are not written by this tool; use a script",
        change.before.location
    )))
}

/// The entry that a change creates: a new file, or the new name of one. Creates its directories.
fn target(change: &Change, created: &mut Vec<Location>) -> Result<Option<DirEntry>, ToolError> {
    let new = match (&change.moved_to, &change.before.file, &change.after) {
        (Some(new), ..) => new,
        (None, None, Some(_)) => &change.before,
        _ => return Ok(None),
    };
    create_parents(&new.location, created)
        .map_err(|error| describe(&new.location.to_string(), &error))?;
    DirEntry::of_new(&new.location).map(Some)
}

/// One change of one entry.
enum Step<'c> {
    /// Writes a file, which is new if there is none before.
    Write {
        entry: &'c DirEntry,
        before: Option<&'c Snapshot>,
        after: &'c [u8],
        permissions: Option<&'c Permissions>,
    },
    Delete {
        entry: &'c DirEntry,
        before: &'c Snapshot,
    },
    Rename {
        from: &'c DirEntry,
        to: &'c DirEntry,
    },
}

/// The steps of a change, and the key of its file after them. A file is written under its old name before it gets the
/// new one, so that it stays the same file, with its hard links.
fn steps_of<'c>(
    change: &'c Change,
    target: Option<&'c DirEntry>,
) -> Result<(PathBuf, Vec<Step<'c>>), ToolError> {
    let permissions = change.permissions.as_ref();
    let (entry, steps) = match (&change.before.file, change.after.as_deref(), target) {
        (Some((from, before)), Some(after), Some(to)) => {
            let edit = Step::Write { entry: from, before: Some(before), after, permissions: None };
            let edit = (after != before.bytes).then_some(edit);
            (to, edit.into_iter().chain([Step::Rename { from, to }]).collect())
        }
        (Some((entry, before)), Some(after), None) => {
            let before = Some(before);
            (entry, vec![Step::Write { entry, before, after, permissions: None }])
        }
        (Some((entry, before)), None, _) => (entry, vec![Step::Delete { entry, before }]),
        (None, Some(after), Some(entry)) => {
            (entry, vec![Step::Write { entry, before: None, after, permissions }])
        }
        (None, ..) => return Err(dir_entry::missing(&change.before.location)),
    };
    Ok((entry.key.clone(), steps))
}

impl<'c> Step<'c> {
    fn entries(&self) -> impl Iterator<Item = &'c DirEntry> + use<'c> {
        let (entry, to) = match *self {
            Self::Write { entry, .. } | Self::Delete { entry, .. } => (entry, None),
            Self::Rename { from, to } => (from, Some(to)),
        };
        std::iter::once(entry).chain(to)
    }

    /// Writes the temporary file.
    fn stage(&self) -> Result<Option<Staged<'c>>, ToolError> {
        match *self {
            Self::Write { entry, before, after, permissions } => {
                Staged::write(entry, after, before, permissions).map(Some)
            }
            Self::Delete { .. } | Self::Rename { .. } => Ok(None),
        }
    }

    /// Returns a notice if a file was written in place.
    fn make(&self, staged: Option<Staged<'_>>) -> Result<Option<String>, ToolError> {
        match self {
            Self::Write { .. } => staged.map_or(Ok(None), Staged::publish),
            Self::Delete { entry, before } => {
                if before.bytes != Snapshot::read(entry)?.bytes {
                    return Err(changed(&entry.display_path));
                }
                remove(entry).map(|()| None)
            }
            Self::Rename { from, to } => rename_entry(from, to, "file").map(|()| None),
        }
    }

    /// Restores the state before.
    fn revert(&self) -> Result<(), ToolError> {
        match *self {
            Self::Write { entry, before: None, .. } => remove(entry),
            Self::Write { entry, before: Some(before), .. } => {
                let current = Snapshot::read(entry)?;
                Staged::write(entry, &before.bytes, Some(&current), None)?.publish().map(drop)
            }
            Self::Delete { entry, before } => {
                let permissions = Some(&before.permissions);
                Staged::write(entry, &before.bytes, None, permissions)?.publish().map(drop)
            }
            Self::Rename { from, to } => rename_entry(to, from, "file"),
        }
    }
}

fn remove(entry: &DirEntry) -> Result<(), ToolError> {
    entry.parent.remove_file(&entry.name).map_err(|error| describe(&entry.display_path, &error))
}

/// Reverts the steps before one that failed.
fn revert(done: &[Step<'_>], error: ToolError) -> ToolError {
    let failed: Vec<&str> = done
        .iter()
        .rev()
        .filter(|step| step.revert().is_err())
        .flat_map(Step::entries)
        .map(|entry| &*entry.display_path)
        .collect();
    if failed.is_empty() {
        return error;
    }
    ToolError::user(format!(
        "{}; these files were changed already and could not be restored: {}",
        error.message(),
        failed.join(", ")
    ))
}
