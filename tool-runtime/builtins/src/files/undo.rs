//! Undoing the last change of a file, link or directory.

use super::Files;
use super::change::{Applied, ChangeOutput, shown};
use super::commit::{Before, Change, remove_empty};
use super::diff;
use super::directory::rename;
use super::history::{Action, Undo, Version};
use super::place::{self, Found, Place, describe};
use super::snapshot::{Hash, hash};
use super::text::Text;
use crate::shown::Shown;
use crate::workspace::Location;
use std::io;
use std::path::Path;
use tool_runtime::{ToolContext, ToolError};

impl Files {
    /// Brings back the state of an entry before its last change by these tools.
    pub(super) fn undo_change(
        &self,
        path: &str,
        context: &ToolContext,
    ) -> Result<Shown<ChangeOutput>, ToolError> {
        let location = self.workspace.resolve(path)?;
        let Some(undo) = self.last_change(&location)? else {
            return Err(ToolError::user(format!("`{location}` has no change to undo")));
        };
        let Undo { number, key, action, directories } = undo;
        let output = match action {
            Action::Content { before, after } => {
                self.undo_content(&location, before, after, context)?
            }
            Action::Moved { from } => self.undo_move(&key, &from)?,
            Action::LinkDeleted { target } => {
                let _one_at_a_time = self.writing();
                restore(&location, |place| create_link(place, &target))?
            }
            Action::DirectoryDeleted { permissions } => {
                let _one_at_a_time = self.writing();
                restore(&location, |Place { parent, name, .. }| {
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
    fn last_change(&self, location: &Location) -> Result<Option<Undo>, ToolError> {
        let own = Place::of_new(location)?.key;
        let target = match place::find(location) {
            Ok(Found::File(place)) => Some(place.key),
            Ok(Found::Missing(target)) => Place::of_new(&target).ok().map(|place| place.key),
            // A link that leads nowhere was moved, perhaps.
            Ok(Found::Directory(_)) | Err(_) => None,
        };
        let keys = std::iter::once(own).chain(target);
        let history = self.history();
        let last = keys.filter_map(|key| history.last(&key)).max_by_key(|undo| undo.number);
        Ok(last.cloned())
    }

    fn undo_content(
        &self,
        location: &Location,
        version: Option<Version>,
        expected: Option<Hash>,
        context: &ToolContext,
    ) -> Result<Shown<ChangeOutput>, ToolError> {
        let before = Before::read(location)?;
        if before.snapshot().map(|snapshot| snapshot.hash()) != expected {
            return Err(ToolError::user(format!(
                "`{location}` was changed by others since; undo would lose their changes"
            )));
        }
        let text = |bytes: &[u8]| Text::decode(bytes).map(|text| text.content).unwrap_or_default();
        let old = before.snapshot().map(|snapshot| text(&snapshot.bytes));
        let new = version.as_ref().map(|version| text(&version.bytes));
        let diff = diff::unified(&location.to_string(), old.as_deref(), new.as_deref());
        let created = before.snapshot().is_none();
        let hash = version.as_ref().map(|version| hash(&version.bytes));
        let (after, permissions) =
            version.map(|Version { bytes, permissions }| (bytes, permissions)).unzip();
        let written = self.write_changes(&[Change { before, after, permissions }], context)?;
        for file in written {
            self.history().see_or_forget(file.key(), hash);
        }
        Ok(shown(location.to_string(), created, diff, Applied::default(), hash))
    }

    fn undo_move(&self, to: &Path, from: &Path) -> Result<Shown<ChangeOutput>, ToolError> {
        let locate = |path: &Path| {
            let outside =
                || ToolError::user(format!("`{}` is outside of the workspace", path.display()));
            self.workspace.locate(path).ok_or_else(outside)
        };
        let (source, target) = (locate(to)?, locate(from)?);
        let shown = source.to_string();
        let _one_at_a_time = self.writing();
        let (place, metadata) =
            place::entry(&source, &shown)?.ok_or_else(|| place::missing(&source))?;
        let place = rename(&place, &metadata, &target, &mut Vec::new())?;
        let text = format!("moved `{shown}` back to `{}`", place.shown);
        let value =
            ChangeOutput { path: place.shown, moved_from: Some(shown), ..ChangeOutput::default() };
        Ok(Shown::new(text, value))
    }
}

/// Creates an entry that was deleted.
fn restore(
    location: &Location,
    create: impl FnOnce(&Place) -> io::Result<()>,
) -> Result<Shown<ChangeOutput>, ToolError> {
    let place = Place::of_new(location)?;
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
