//! Changes of one or more files, made together or not at all.

use super::Files;
use super::history::{Action, Version};
use super::place::{self, Found, Place};
use super::publish::{Staged, changed};
use super::snapshot::{Hash, Snapshot, hash};
use crate::workspace::Location;
use cap_std::fs::Permissions;
use std::path::{Path, PathBuf};
use tool_runtime::{ToolContext, ToolError};

/// The state of a file before a change.
pub(super) struct Before {
    location: Location,
    /// `None` for a file that does not exist.
    file: Option<(Place, Snapshot)>,
}

/// Whether a file must have been read before it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// The model gives the whole content, or quotes parts of it from memory.
    Read,
    /// The change quotes the lines it is about. A file that was read must not have changed since.
    UnchangedIfRead,
}

/// A change of one file.
pub(super) struct Change {
    pub(super) before: Before,
    /// `None` deletes it.
    pub(super) after: Option<Vec<u8>>,
    /// Permissions of a new file. Default: those of a new file of this process.
    pub(super) permissions: Option<Permissions>,
}

/// A file that was written.
pub(super) struct Written {
    key: PathBuf,
    /// Directories that were created for it.
    directories: Vec<Location>,
}

impl Written {
    pub(super) fn key(&self) -> &Path {
        &self.key
    }
}

impl Change {
    /// New content of a file, or its deletion.
    pub(super) fn new(before: Before, after: Option<Vec<u8>>) -> Self {
        Self { before, after, permissions: None }
    }

    /// The bytes of both versions.
    pub(super) fn size(&self) -> usize {
        let before = self.before.snapshot().map_or(0, |snapshot| snapshot.bytes.len());
        before + self.after.as_ref().map_or(0, Vec::len)
    }
}

impl Before {
    /// Reads the file of a location, if it exists.
    ///
    /// # Errors
    /// It is a directory, too large or outside.
    pub(super) fn read(location: &Location) -> Result<Self, ToolError> {
        match place::find(location)? {
            Found::Directory(_) => Err(ToolError::user(format!("`{location}` is a directory"))),
            Found::Missing(location) => Ok(Self { location, file: None }),
            Found::File(place) => {
                let snapshot = Snapshot::read(&place)?;
                Ok(Self { location: location.clone(), file: Some((place, snapshot)) })
            }
        }
    }

    pub(super) fn location(&self) -> &Location {
        &self.location
    }

    pub(super) fn snapshot(&self) -> Option<&Snapshot> {
        self.file.as_ref().map(|(_, snapshot)| snapshot)
    }
}

impl Files {
    /// Reads a file that is to be changed, and checks that the model knows this version.
    ///
    /// # Errors
    /// The file was not read, or changed since.
    pub(super) fn read_to_change(
        &self,
        path: &str,
        freshness: Freshness,
    ) -> Result<Before, ToolError> {
        let before = Before::read(&self.workspace.resolve(path)?)?;
        let Some((place, snapshot)) = &before.file else { return Ok(before) };
        let shown = &place.shown;
        match self.history().seen(&place.key) {
            None if freshness == Freshness::Read => Err(ToolError::user(format!(
                "`{shown}` was not read yet; read it first, so that the change fits its content"
            ))),
            Some(seen) if !snapshot.is(seen) => Err(ToolError::user(format!(
                "`{shown}` was changed since it was read; read it again, then repeat the change"
            ))),
            _ => Ok(before),
        }
    }

    /// Makes all changes, or none. Each can be undone. Returns the hashes of the new versions.
    ///
    /// # Errors
    /// A file changed meanwhile or cannot be written, or the call was cancelled.
    pub(super) fn commit(
        &self,
        changes: Vec<Change>,
        context: &ToolContext,
    ) -> Result<Vec<Option<Hash>>, ToolError> {
        let written = self.write_changes(&changes, context)?;
        let mut history = self.history();
        let record = |(change, written): (Change, Written)| {
            let after = change.after.as_deref().map(hash);
            let before = change.before.file.map(|(_, snapshot)| Version::from(snapshot));
            history.record(written.key, Action::Content { before, after }, written.directories);
            after
        };
        Ok(changes.into_iter().zip(written).map(record).collect())
    }

    /// Makes all changes, or none, and does not record them.
    pub(super) fn write_changes(
        &self,
        changes: &[Change],
        context: &ToolContext,
    ) -> Result<Vec<Written>, ToolError> {
        let _one_at_a_time = self.writing();
        let mut directories = vec![Vec::new(); changes.len()];
        let keys = write_all(changes, &mut directories, context)
            .inspect_err(|_| remove_empty(&directories.concat()))?;
        let written = keys.into_iter().zip(directories);
        Ok(written.map(|(key, directories)| Written { key, directories }).collect())
    }
}

/// Writes temporary files for all, then puts them into place.
fn write_all(
    changes: &[Change],
    directories: &mut [Vec<Location>],
    context: &ToolContext,
) -> Result<Vec<PathBuf>, ToolError> {
    let places = changes.iter().zip(directories);
    let places: Vec<Option<Place>> = places
        .map(|(change, directories)| new_place(change, directories))
        .collect::<Result<_, _>>()?;
    let targets = changes.iter().zip(&places).map(|(change, new)| Target::of(change, new.as_ref()));
    let targets: Vec<Target<'_>> = targets.collect::<Result<_, _>>()?;
    let count = targets.len();
    let mut staged = Vec::with_capacity(count);
    for (number, target) in targets.iter().enumerate() {
        staged.push(target.stage()?);
        if count > 1 {
            context.progress(count + number + 1, 2 * count, "files written");
        }
    }
    if context.is_cancelled() {
        return Err(ToolError::user("the call was cancelled; nothing was changed"));
    }
    for (done, (target, staged)) in targets.iter().zip(staged).enumerate() {
        if let Err(error) = target.publish(staged) {
            return Err(roll_back(&targets[..done], error));
        }
    }
    Ok(targets.iter().map(|target| target.place.key.clone()).collect())
}

/// Where a file that does not exist is created. Creates its directories.
fn new_place(change: &Change, directories: &mut Vec<Location>) -> Result<Option<Place>, ToolError> {
    if change.before.file.is_some() || change.after.is_none() {
        return Ok(None);
    }
    let location = &change.before.location;
    create_parents(location, directories)
        .map_err(|error| place::describe(&location.to_string(), &error))?;
    Place::of_new(location).map(Some)
}

/// Creates the directories of an entry, and lists them.
pub(super) fn create_parents(
    location: &Location,
    created: &mut Vec<Location>,
) -> std::io::Result<()> {
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

/// A change with the entry that it is about.
struct Target<'c> {
    place: &'c Place,
    before: Option<&'c Snapshot>,
    after: Option<&'c [u8]>,
    permissions: Option<&'c Permissions>,
}

impl<'c> Target<'c> {
    fn of(change: &'c Change, new: Option<&'c Place>) -> Result<Self, ToolError> {
        let (after, permissions) = (change.after.as_deref(), change.permissions.as_ref());
        match (&change.before.file, new) {
            (Some((place, snapshot)), _) => {
                Ok(Self { place, before: Some(snapshot), after, permissions: None })
            }
            (None, Some(place)) => Ok(Self { place, before: None, after, permissions }),
            (None, None) => Err(place::missing(&change.before.location)),
        }
    }

    fn stage(&self) -> Result<Option<Staged<'c>>, ToolError> {
        let stage = |bytes| Staged::write(self.place, bytes, self.before, self.permissions);
        self.after.map(stage).transpose()
    }

    fn publish(&self, staged: Option<Staged<'_>>) -> Result<(), ToolError> {
        match staged {
            Some(staged) => staged.publish(),
            None => self.delete(),
        }
    }

    fn delete(&self) -> Result<(), ToolError> {
        let Place { parent, name, shown, .. } = self.place;
        let current = Snapshot::read(self.place)?;
        if self.before.is_none_or(|before| before.bytes != current.bytes) {
            return Err(changed(shown));
        }
        parent.remove_file(name).map_err(|error| place::describe(shown, &error))
    }

    /// Brings back the state before.
    fn restore(&self) -> Result<(), ToolError> {
        let Place { parent, name, shown, .. } = self.place;
        let Some(before) = self.before else {
            return parent.remove_file(name).map_err(|error| place::describe(shown, &error));
        };
        if self.after.is_some() {
            let current = Snapshot::read(self.place)?;
            return Staged::write(self.place, &before.bytes, Some(&current), None)?.publish();
        }
        Staged::write(self.place, &before.bytes, None, Some(&before.permissions))?.publish()
    }
}

/// Brings back the files that were changed before one failed.
fn roll_back(done: &[Target<'_>], error: ToolError) -> ToolError {
    let failed: Vec<&str> = done
        .iter()
        .rev()
        .filter(|target| target.restore().is_err())
        .map(|target| &*target.place.shown)
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
