//! Undoing the last change of a file, link or directory.

use super::Files;
use super::change::{Applied, ChangeOutput, shown};
use super::commit::{Before, Change};
use super::diff;
use super::directory::{occupied, remove_empty, rename};
use super::history::{Action, Edit, Undo, Version};
use super::lock;
use super::place::{self, Found, Place, describe};
use super::snapshot::{Hash, Snapshot, hash, hex};
use super::text::Text;
use super::transaction::write_changes;
use crate::caller::Caller;
use crate::shown::Shown;
use crate::workspace::Location;
use std::io;
use std::path::{Path, PathBuf};
use tool_runtime::{ToolContext, ToolError};

/// Continues a sentence about a path.
const DROPPED: &str = "was changed, but this cannot be undone any more: the content of the last changes alone is kept, of ten changes of a file, and 64 MiB in all";

impl Files {
    /// Brings back the state of an entry before its last change by these tools.
    pub(super) fn undo_change(
        &self,
        path: &str,
        context: &ToolContext,
    ) -> Result<Shown<ChangeOutput>, ToolError> {
        let location = self.workspace.resolve(path)?;
        let Undo { number, key, action, directories, .. } = self.last_change(&location)?;
        let output = match action {
            Action::Content { before, after } => {
                self.undo_content(&location, before, after, context)?
            }
            Action::Moved { from, edit } => self.undo_move(&key, &from, edit, context)?,
            Action::LinkDeleted { target } => {
                let _one_at_a_time = self.writing();
                restore(&location, context, |place| create_link(place, &target))?
            }
            Action::DirectoryDeleted { permissions } => {
                let _one_at_a_time = self.writing();
                restore(&location, context, |Place { parent, name, .. }| {
                    parent.create_dir(name)?;
                    parent.set_permissions(name, permissions.clone())
                })?
            }
        };
        remove_empty(&directories);
        self.history().undone(number);
        Ok(output)
    }

    /// The last change of an entry, or of the file that a link leads to.
    fn last_change(&self, location: &Location) -> Result<Undo, ToolError> {
        let own = Place::of_new(location)?.key;
        let target = match place::find(location) {
            Ok(Found::File(place)) => Some(place.key),
            Ok(Found::Missing(target)) => Place::of_new(&target).ok().map(|place| place.key),
            // A link that leads nowhere was moved, perhaps.
            Ok(Found::Directory(_)) | Err(_) => None,
        };
        let keys: Vec<PathBuf> = std::iter::once(own).chain(target).collect();
        let history = self.history();
        let last = keys.iter().filter_map(|key| history.last(key)).max_by_key(|undo| undo.number);
        last.cloned().ok_or_else(|| {
            let is_dropped = keys.iter().any(|key| history.has_dropped(key));
            let reason = if is_dropped { DROPPED } else { "has no change to undo" };
            ToolError::user(format!("`{location}` {reason}"))
        })
    }

    fn undo_content(
        &self,
        location: &Location,
        version: Option<Version>,
        expected: Option<Hash>,
        context: &ToolContext,
    ) -> Result<Shown<ChangeOutput>, ToolError> {
        let _one_at_a_time = self.writing();
        let before = self.unchanged(location, expected)?;
        let diff = version_diff(location, before.snapshot(), version.as_ref());
        let created = before.snapshot().is_none();
        let hash = version.as_ref().map(|version| hash(&version.bytes));
        let written = write_changes(&[Change::back(before, version)], context)?;
        for file in written {
            self.history().see_or_forget(&file.key, &Caller::of(context), hash);
        }
        Ok(shown(location.to_string(), created, diff, Applied::default(), hash))
    }

    /// The state of a file that only these tools changed.
    fn unchanged(&self, location: &Location, expected: Option<Hash>) -> Result<Before, ToolError> {
        let before = Before::read(location)?;
        if before.snapshot().map(Snapshot::hash) == expected {
            return Ok(before);
        }
        Err(ToolError::user(format!(
            "`{location}` was changed by others since, and undo would lose their changes; edit or write the file instead"
        )))
    }

    fn undo_move(
        &self,
        to: &Path,
        from: &Path,
        edit: Option<Edit>,
        context: &ToolContext,
    ) -> Result<Shown<ChangeOutput>, ToolError> {
        let locate = |path: &Path| {
            let outside =
                || ToolError::user(format!("`{}` is outside of the workspace", path.display()));
            self.workspace.locate(path).ok_or_else(outside)
        };
        let (source, target) = (locate(to)?, locate(from)?);
        let mut output = match edit {
            Some(edit) => {
                // The name of before is set when the change is forgotten.
                let hash = hash(&edit.before.bytes);
                let output = self.undo_edited_move(&source, &target, edit, context)?;
                self.history().see_or_forget(to, &Caller::of(context), Some(hash));
                output
            }
            None => {
                let _one_at_a_time = self.writing();
                let (place, metadata) = place::entry(&source, &source.to_string())?
                    .ok_or_else(|| place::missing(&source))?;
                rename(&place, &metadata, &target, &mut Vec::new(), context)?;
                ChangeOutput::default()
            }
        };
        (output.path, output.moved_from) = (target.to_string(), Some(source.to_string()));
        let mut text = format!("moved `{source}` back to `{target}`");
        if !output.diff.is_empty() {
            text.extend(["\n", &output.diff]);
        }
        Ok(Shown::new(text, output))
    }

    fn undo_edited_move(
        &self,
        source: &Location,
        target: &Location,
        Edit { before: version, after }: Edit,
        context: &ToolContext,
    ) -> Result<ChangeOutput, ToolError> {
        let _one_at_a_time = self.writing();
        let before = self.unchanged(source, Some(after))?;
        let new = Before::read(target)?;
        if new.snapshot().is_some() {
            return Err(occupied(&target.to_string()));
        }
        let diff = version_diff(target, before.snapshot(), Some(&version));
        let hash = hash(&version.bytes);
        let change = Change::back(before, Some(version)).moved_to(new);
        write_changes(&[change], context)?;
        Ok(ChangeOutput { diff, sha256: Some(hex(&hash)), ..ChangeOutput::default() })
    }
}

/// The changes that undo makes.
fn version_diff(location: &Location, old: Option<&Snapshot>, new: Option<&Version>) -> String {
    let text = |bytes: &[u8]| Text::decode(bytes).map(|text| text.content).unwrap_or_default();
    let old = old.map(|snapshot| text(&snapshot.bytes));
    let new = new.map(|version| text(&version.bytes));
    diff::unified(&location.to_string(), old.as_deref(), new.as_deref())
}

/// Creates an entry that was deleted.
fn restore(
    location: &Location,
    context: &ToolContext,
    create: impl FnOnce(&Place) -> io::Result<()>,
) -> Result<Shown<ChangeOutput>, ToolError> {
    let place = Place::of_new(location)?;
    let _locked = lock::directories(&[&place], context)?;
    create(&place).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            ToolError::user(format!("`{location}` exists; move it away, then undo again"))
        }
        _ => describe(&place.shown, &error),
    })?;
    let text = format!("created `{location}` again");
    let value =
        ChangeOutput { path: location.to_string(), created: true, ..ChangeOutput::default() };
    Ok(Shown::new(text, value))
}

/// Creates a link as it was, wherever it leads.
fn create_link(place: &Place, target: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return place.parent.symlink_contents(target, &place.name);
    #[cfg(not(unix))]
    {
        let _ = (place, target);
        Err(io::ErrorKind::Unsupported.into())
    }
}
