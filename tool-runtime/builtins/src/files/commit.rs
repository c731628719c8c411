//! Changes of files: from the versions that were read to the history.

use super::Files;
use super::coverage::ChangedLines;
use super::dir_entry::{self, DirEntry, Target};
use super::history::{Content, Done, Version};
use super::read::{MAX_LINE, lines_of};
use super::snapshot::{Hash, Snapshot, hash};
use super::text::Text;
use super::transaction::{Written, write_changes};
use crate::caller::Caller;
use crate::earlier_output::EarlierOutput;
use crate::workspace::Location;
use cap_std::fs::Permissions;
use std::path::PathBuf;
use tool_runtime::__seam::hex;
use tool_runtime::{ToolContext, ToolError};

/// The state of a file before a change.
pub(super) struct Before {
    pub(super) location: Location,
    /// `None` for a file that does not exist.
    pub(super) file: Option<(DirEntry, Snapshot)>,
}

/// Whether a file must have been read before it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// The model quotes parts of the content from memory.
    Read,
    /// The model gives the whole content, so it must have read all lines.
    ReadWhole,
    /// The change quotes the lines it is about. A file that was read must not have changed since.
    UnchangedIfRead,
}

/// Changes that were made and recorded.
#[derive(Debug)]
pub(super) struct Committed {
    /// Those of the new versions.
    pub(super) hashes: Vec<Option<Hash>>,
    /// Remarks about files that were written in place.
    pub(super) notice: Option<String>,
}

/// Remarks as one text.
pub(super) fn join(notices: Vec<String>) -> Option<String> {
    notices.into_iter().reduce(|all, notice| format!("{all}; {notice}"))
}

/// A change of one file.
pub(super) struct Change {
    pub(super) before: Before,
    /// `None` deletes it.
    pub(super) after: Option<Vec<u8>>,
    /// Permissions of a file that is created. Default: those of a new file of this process.
    pub(super) permissions: Option<Permissions>,
    /// The new name of the file.
    pub(super) moved_to: Option<Before>,
}

impl Change {
    /// New content of a file, or its deletion.
    pub(super) fn new(before: Before, after: Option<Vec<u8>>) -> Self {
        Self { before, after, permissions: None, moved_to: None }
    }

    /// An earlier version of a file, or its deletion.
    pub(super) fn back(before: Before, version: Option<Version>) -> Self {
        let (after, permissions) =
            version.map(|version| (version.bytes, version.permissions)).unzip();
        Self { before, after, permissions, moved_to: None }
    }

    /// The change under another name, which is not used.
    pub(super) fn moved_to(self, new: Before) -> Self {
        Self { moved_to: Some(new), ..self }
    }

    /// The files that it writes or deletes.
    pub(super) fn keys(&self) -> impl Iterator<Item = PathBuf> {
        std::iter::once(&self.before).chain(&self.moved_to).map(Before::key)
    }

    /// The bytes of both versions.
    pub(super) fn size(&self) -> usize {
        let before = self.before.snapshot().map_or(0, |snapshot| snapshot.bytes.len());
        before + self.after.as_ref().map_or(0, Vec::len)
    }

    /// The change for the history, with the key of the file now, and the hash of the new version.
    fn done(self, key: PathBuf) -> (Done, Option<Hash>) {
        let lines = self.before.changed_lines(self.after.as_deref());
        let after = self.after.as_deref().map(hash);
        let (entry, before) = self.before.file.unzip();
        let is_same = self.after.as_ref() == before.as_ref().map(|before| &before.bytes);
        let content = Content { before: before.map(Version::from), after };
        let moved_from = self.moved_to.and(entry).map(|entry| entry.key);
        let content = (moved_from.is_none() || !is_same).then_some(content);
        (Done { key, moved_from, content, lines }, after)
    }
}

impl Before {
    /// Reads the file of a location, if it exists.
    ///
    /// # Errors
    /// It is a directory, too large or outside.
    pub(super) fn read(location: &Location) -> Result<Self, ToolError> {
        match dir_entry::find(location)? {
            Target::Directory(_) => Err(ToolError::user(format!("`{location}` is a directory"))),
            Target::Missing(location) => Ok(Self { location, file: None }),
            Target::File(entry) => {
                let snapshot = Snapshot::read(&entry)?;
                Ok(Self { location: location.clone(), file: Some((entry, snapshot)) })
            }
        }
    }

    /// One spelling for every path that means this file.
    pub(super) fn key(&self) -> PathBuf {
        let key = self.file.as_ref().map(|(entry, _)| entry.key.clone());
        key.unwrap_or_else(|| self.location.absolute())
    }

    pub(super) fn location(&self) -> &Location {
        &self.location
    }

    /// Whether `Read` shows cells.
    pub(super) fn is_notebook(&self) -> bool {
        self.file.as_ref().is_some_and(|(entry, _)| entry.is_notebook())
    }

    /// The lines that differ in new content. `None` if one version is not text, or `Read` shows cells.
    pub(super) fn changed_lines(&self, after: Option<&[u8]>) -> Option<ChangedLines> {
        let text = |bytes: &[u8]| Text::decode(bytes).ok().map(|text| text.content);
        let (old, new) = (text(&self.snapshot()?.bytes)?, text(after?)?);
        (!self.is_notebook()).then(|| ChangedLines::between(&old, &new))
    }

    pub(super) fn snapshot(&self) -> Option<&Snapshot> {
        self.file.as_ref().map(|(_, snapshot)| snapshot)
    }
}

impl Files {
    /// Reads a file that is to be changed, and checks that the caller has read this version.
    ///
    /// # Errors
    /// The file was not read, or changed since.
    pub(super) fn read_to_change(
        &self,
        path: &str,
        freshness: Freshness,
        context: &ToolContext,
    ) -> Result<Before, ToolError> {
        let before = Before::read(&self.workspace.resolve(path)?)?;
        let Some((entry, snapshot)) = &before.file else { return Ok(before) };
        let display_path = &entry.display_path;
        let must_be_read = freshness != Freshness::UnchangedIfRead;
        match self.history().seen(&entry.key, &Caller::from_context(context)) {
            None if freshness == Freshness::ReadWhole && is_own_output(snapshot, context) => {
                Ok(before)
            }
            None if must_be_read && !self.workspace.allows_unread_edits() => {
                Err(ToolError::user(match Text::decode(&snapshot.bytes) {
                    Ok(_) => format!(
                        "`{display_path}` was not read yet; read it first, so that the change fits its content"
                    ),
                    Err(binary) => format!(
                        "`{display_path}` {binary}, and is not changed as text; to replace it, delete it first"
                    ),
                }))
            }
            Some(seen)
                if snapshot.hash() != seen.version
                    && let Err(binary) = Text::decode(&snapshot.bytes) =>
            {
                Err(ToolError::user(format!(
                    "`{display_path}` was changed since it was read, and now {binary}; it cannot be changed as text"
                )))
            }
            Some(seen) if snapshot.hash() != seen.version => Err(ToolError::user(format!(
                "`{display_path}` was changed since it was read; read it again, then repeat the change"
            ))),
            Some(seen)
                if freshness == Freshness::ReadWhole
                    && !self.workspace.allows_partial_overwrites()
                    && let Some(part) = seen.unread.first() =>
            {
                Err(unread_part(display_path, snapshot, part))
            }
            _ => Ok(before),
        }
    }

    /// Makes all changes, or none. Those of content can be undone.
    ///
    /// # Errors
    /// A file changed meanwhile or cannot be written, or the call was cancelled.
    pub(super) fn commit(
        &self,
        changes: Vec<Change>,
        context: &ToolContext,
    ) -> Result<Committed, ToolError> {
        // Until they are recorded, in the order of their writes.
        let _one_at_a_time = self.writing();
        let Written { keys, notices } = write_changes(&changes, context)?;
        let done = changes.into_iter().zip(keys).map(|(change, key)| change.done(key));
        let (done, hashes): (Vec<_>, Vec<_>) = done.unzip();
        self.history().record(&Caller::from_context(context), done);
        Ok(Committed { hashes, notice: join(notices) })
    }
}

/// Whether the earlier run of the job that makes the call wrote this version.
fn is_own_output(snapshot: &Snapshot, context: &ToolContext) -> bool {
    context.get::<EarlierOutput>().is_some_and(|earlier| earlier.0 == hex(&snapshot.hash()))
}

/// The error for a file that is to be replaced and was read in part.
fn unread_part(
    display_path: &str,
    snapshot: &Snapshot,
    (first, last): (usize, Option<usize>),
) -> ToolError {
    let text = Text::decode(&snapshot.bytes).map(|text| text.content).unwrap_or_default();
    if lines_of(&text).nth(first - 1).is_some_and(|line| line.chars().count() > MAX_LINE) {
        return ToolError::user(format!(
            "`{display_path}` would be replaced, and line {first} is longer than the {MAX_LINE} characters that are read of it; change it by `Edit` or a command, or delete the file first"
        ));
    }
    let (part, limit) = match last {
        Some(last) => {
            (format!("lines {first} to {last}"), format!(" and limit {}", last - first + 1))
        }
        None => ("parts of it".to_owned(), String::new()),
    };
    ToolError::user(format!(
        "`{display_path}` would be replaced, and {part} were not read; read them with offset {first}{limit}, or change lines that were read by `Edit`"
    ))
}
