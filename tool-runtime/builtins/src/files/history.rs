//! The versions of files that a model has seen, and the changes that can be undone.
//!
//! A change keeps the name that its entry had then. Names that changed since are followed when it is looked up, so that
//! undoing moves restores what was known of both names.

use super::snapshot::{Hash, Snapshot, Stamp};
use crate::workspace::Location;
use cap_std::fs::Permissions;
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

/// Changes of one file that can be undone.
pub(super) const MAX_UNDO: usize = 10;

/// Bytes of all versions that are kept. The oldest are dropped first.
const MAX_KEPT_BYTES: usize = 64 * 1024 * 1024;

/// Files whose version is remembered. Models read one again that is forgotten.
const MAX_SEEN: usize = 50_000;

/// What a change without content takes, about.
const OVERHEAD: usize = 1024;

/// What tools know of the files of a workspace.
#[derive(Default)]
pub(crate) struct FileHistory {
    seen: HashMap<PathBuf, Seen>,
    /// Of all files, oldest first.
    changes: VecDeque<Undo>,
    kept_bytes: usize,
    /// Number of all changes.
    recorded: u64,
}

/// The version that a model saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Whole(Hash),
    /// Parts of a large file.
    Parts(Stamp),
}

/// A change that can be undone.
#[derive(Clone)]
pub(super) struct Undo {
    pub(super) number: u64,
    /// The entry; of a move, its new name.
    pub(super) key: PathBuf,
    pub(super) action: Action,
    /// Directories that the change created.
    pub(super) directories: Vec<Location>,
}

/// The kind of a change.
#[derive(Clone)]
pub(super) enum Action {
    /// New content of a file. The version before is `None` if it created the file, the hash after if it deleted the file.
    Content { before: Option<Version>, after: Option<Hash> },
    /// A file, link or directory got another name.
    Moved { from: PathBuf },
    /// A symbolic link was deleted.
    LinkDeleted { target: PathBuf },
    /// An empty directory was deleted.
    DirectoryDeleted { permissions: Permissions },
}

/// A version of a file.
#[derive(Clone)]
pub(super) struct Version {
    pub(super) bytes: Vec<u8>,
    pub(super) permissions: Permissions,
}

impl From<Snapshot> for Version {
    fn from(snapshot: Snapshot) -> Self {
        Self { bytes: snapshot.bytes, permissions: snapshot.permissions }
    }
}

impl FileHistory {
    /// The version that the model saw last.
    pub(super) fn seen(&self, key: &Path) -> Option<Seen> {
        self.seen.get(key).copied()
    }

    pub(super) fn see(&mut self, key: &Path, version: Seen) {
        if self.seen.len() >= MAX_SEEN {
            self.seen.clear();
        }
        self.seen.insert(key.to_owned(), version);
    }

    /// Remembers a change.
    pub(super) fn record(&mut self, key: PathBuf, action: Action, directories: Vec<Location>) {
        match &action {
            Action::Content { after, .. } => self.see_or_forget(&key, *after),
            Action::Moved { from } => self.rename_seen(from, &key),
            Action::LinkDeleted { .. } | Action::DirectoryDeleted { .. } => {}
        }
        self.recorded += 1;
        let change = Undo { number: self.recorded, key, action, directories };
        let is_same = |other: &&Undo| other.key == change.key;
        let of_entry = self.changes.iter().filter(is_same).count();
        if of_entry >= MAX_UNDO {
            let oldest = self.changes.iter().position(|other| is_same(&other));
            self.drop_at(oldest);
        }
        self.kept_bytes += change.size();
        self.changes.push_back(change);
        while self.kept_bytes > MAX_KEPT_BYTES && self.changes.len() > 1 {
            self.drop_at(Some(0));
        }
    }

    /// The last change of an entry. Changes before a directory got another name are found by the new one.
    pub(super) fn last(&self, key: &Path) -> Option<&Undo> {
        let mut key = key.to_owned();
        for change in self.changes.iter().rev() {
            if change.key == key {
                return Some(change);
            }
            let Action::Moved { from } = &change.action else { continue };
            if *from == key {
                return Some(change);
            }
            if key.starts_with(from) {
                return None;
            }
            key = renamed(&key, &change.key, from).unwrap_or(key);
        }
        None
    }

    /// Forgets a change, which was undone.
    pub(super) fn undone(&mut self, number: u64) {
        let index = self.changes.iter().position(|change| change.number == number);
        let Some(change) = self.drop_at(index) else { return };
        if let (Action::Moved { from }, Some(index)) = (change.action, index) {
            self.move_back(index, &change.key, &from);
        }
    }

    /// Later changes belong to the name of before again.
    fn move_back(&mut self, index: usize, to: &Path, from: &Path) {
        self.rename_seen(to, from);
        for change in self.changes.range_mut(index..) {
            if let Some(key) = renamed(&change.key, to, from) {
                change.key = key;
            }
            if let Action::Moved { from: source } = &mut change.action
                && let Some(key) = renamed(source, to, from)
            {
                *source = key;
            }
        }
    }

    /// The version that a model knows because it made it.
    pub(super) fn see_or_forget(&mut self, key: &Path, version: Option<Hash>) {
        match version {
            Some(hash) => self.see(key, Seen::Whole(hash)),
            None => drop(self.seen.remove(key)),
        }
    }

    fn rename_seen(&mut self, from: &Path, to: &Path) {
        let keys: Vec<PathBuf> =
            self.seen.keys().filter(|key| key.starts_with(from)).cloned().collect();
        for key in keys {
            if let (Some(seen), Some(new)) = (self.seen.remove(&key), renamed(&key, from, to)) {
                self.seen.insert(new, seen);
            }
        }
    }

    fn drop_at(&mut self, index: Option<usize>) -> Option<Undo> {
        let change = index.and_then(|index| self.changes.remove(index))?;
        self.kept_bytes -= change.size();
        Some(change)
    }
}

impl Undo {
    fn size(&self) -> usize {
        let content = match &self.action {
            Action::Content { before: Some(version), .. } => version.bytes.len(),
            _ => 0,
        };
        content + OVERHEAD
    }
}

/// The key of an entry whose directory, or itself, got another name.
fn renamed(key: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let rest = key.strip_prefix(from).ok()?;
    // `join` of an empty path would append a separator.
    Some(if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) })
}
