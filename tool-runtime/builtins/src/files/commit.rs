//! Changes of one or more files, made together or not at all.

use super::Files;
use super::history::Version;
use super::place::{self, Found, Place};
use super::publish::{Staged, changed};
use super::snapshot::{Hash, Snapshot, hash};
use crate::workspace::Location;
use std::path::PathBuf;
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
}

impl Change {
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

    /// The key of the file, also if it does not exist.
    pub(super) fn key_or_new(&self) -> Result<PathBuf, ToolError> {
        match &self.file {
            Some((place, _)) => Ok(place.key.clone()),
            None => Place::of_new(&self.location).map(|place| place.key),
        }
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
            Some(seen) if *seen != snapshot.hash() => Err(ToolError::user(format!(
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
        let keys = self.write_changes(&changes, context)?;
        let mut history = self.history();
        let record = |(change, key): (Change, PathBuf)| {
            let after = change.after.as_deref().map(hash);
            let before = change.before.file.map(|(_, snapshot)| Version::from(snapshot));
            history.record(&key, before, after);
            after
        };
        Ok(changes.into_iter().zip(keys).map(record).collect())
    }

    /// Makes all changes, or none, and does not record them. Returns the keys of the files.
    pub(super) fn write_changes(
        &self,
        changes: &[Change],
        context: &ToolContext,
    ) -> Result<Vec<PathBuf>, ToolError> {
        let _one_at_a_time = self.writing();
        let mut directories = Vec::new();
        let written = write_all(changes, &mut directories, context);
        written.inspect_err(|_| remove_empty(&directories))
    }
}

/// Writes temporary files for all, then puts them into place.
fn write_all(
    changes: &[Change],
    directories: &mut Vec<Location>,
    context: &ToolContext,
) -> Result<Vec<PathBuf>, ToolError> {
    let places: Vec<Option<Place>> =
        changes.iter().map(|change| new_place(change, directories)).collect::<Result<_, _>>()?;
    let targets = changes.iter().zip(&places).map(|(change, new)| Target::of(change, new.as_ref()));
    let targets: Vec<Target<'_>> = targets.collect::<Result<_, _>>()?;
    let staged: Vec<Option<Staged<'_>>> =
        targets.iter().map(Target::stage).collect::<Result<_, _>>()?;
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
    let dir = location.root().dir();
    if let Some(parent) = location.path().parent().filter(|parent| !parent.as_os_str().is_empty()) {
        let missing = parent.ancestors().take_while(|path| !path.as_os_str().is_empty());
        let missing = missing.take_while(|path| !dir.exists(path));
        directories.extend(missing.map(|path| location.with_path(path)));
        dir.create_dir_all(parent)
            .map_err(|error| place::describe(&location.to_string(), &error))?;
    }
    Place::of_new(location).map(Some)
}

/// Removes directories that were created for nothing. Others may use them already.
fn remove_empty(directories: &[Location]) {
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
}

impl<'c> Target<'c> {
    fn of(change: &'c Change, new: Option<&'c Place>) -> Result<Self, ToolError> {
        let after = change.after.as_deref();
        match (&change.before.file, new) {
            (Some((place, snapshot)), _) => Ok(Self { place, before: Some(snapshot), after }),
            (None, Some(place)) => Ok(Self { place, before: None, after }),
            (None, None) => Err(place::missing(&change.before.location)),
        }
    }

    fn stage(&self) -> Result<Option<Staged<'c>>, ToolError> {
        self.after.map(|bytes| Staged::write(self.place, bytes, self.before)).transpose()
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
            return Staged::write(self.place, &before.bytes, Some(&current))?.publish();
        }
        Staged::write(self.place, &before.bytes, None)?.publish()?;
        let permissions = before.permissions.clone();
        parent.set_permissions(name, permissions).map_err(|error| place::describe(shown, &error))
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
