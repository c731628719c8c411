//! The versions of files that a model has seen, and the changes that can be undone.

use super::snapshot::{Hash, Snapshot};
use cap_std::fs::Permissions;
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

/// Changes of one file that can be undone.
pub(super) const MAX_UNDO: usize = 10;

/// Bytes of all versions that are kept. The oldest are dropped first.
const MAX_KEPT_BYTES: usize = 64 * 1024 * 1024;

/// Files whose version is remembered. Models read one again that is forgotten.
const MAX_SEEN: usize = 50_000;

/// What tools know of the files of a workspace.
#[derive(Default)]
pub(crate) struct FileHistory {
    seen: HashMap<PathBuf, Hash>,
    /// Of all files, oldest first.
    changes: VecDeque<Undo>,
    kept_bytes: usize,
}

/// A change that can be undone.
pub(super) struct Undo {
    key: PathBuf,
    /// The version before: `None` if the change created the file.
    pub(super) before: Option<Version>,
    /// The hash after: `None` if the change deleted the file.
    pub(super) after: Option<Hash>,
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
    pub(super) fn seen(&self, key: &Path) -> Option<&Hash> {
        self.seen.get(key)
    }

    pub(super) fn see(&mut self, key: &Path, hash: Hash) {
        if self.seen.len() >= MAX_SEEN {
            self.seen.clear();
        }
        self.seen.insert(key.to_owned(), hash);
    }

    /// Remembers a change.
    pub(super) fn record(&mut self, key: &Path, before: Option<Version>, after: Option<Hash>) {
        match after {
            Some(hash) => self.see(key, hash),
            None => drop(self.seen.remove(key)),
        }
        let change = Undo { key: key.to_owned(), before, after };
        self.kept_bytes += change.size();
        self.changes.push_back(change);
        let of_file = self.changes.iter().filter(|change| change.key == key).count();
        if of_file > MAX_UNDO {
            let oldest = self.changes.iter().position(|change| change.key == key);
            self.drop_at(oldest);
        }
        while self.kept_bytes > MAX_KEPT_BYTES && self.changes.len() > 1 {
            self.drop_at(Some(0));
        }
    }

    /// The last change of a file.
    pub(super) fn last(&self, key: &Path) -> Option<&Undo> {
        self.changes.iter().rev().find(|change| change.key == key)
    }

    /// Forgets the last change of a file, which was undone.
    pub(super) fn undone(&mut self, key: &Path, current: Option<Hash>) {
        let last = self.changes.iter().rposition(|change| change.key == key);
        self.drop_at(last);
        match current {
            Some(hash) => self.see(key, hash),
            None => drop(self.seen.remove(key)),
        }
    }

    /// The versions belong to the new name from now on.
    pub(super) fn moved(&mut self, from: &Path, to: &Path) {
        let renamed = |key: &Path| key.strip_prefix(from).ok().map(|rest| join(to, rest));
        let keys: Vec<PathBuf> =
            self.seen.keys().filter(|key| key.starts_with(from)).cloned().collect();
        for key in keys {
            if let (Some(hash), Some(new)) = (self.seen.remove(&key), renamed(&key)) {
                self.seen.insert(new, hash);
            }
        }
        for change in &mut self.changes {
            if let Some(new) = renamed(&change.key) {
                change.key = new;
            }
        }
    }

    fn drop_at(&mut self, index: Option<usize>) {
        if let Some(change) = index.and_then(|index| self.changes.remove(index)) {
            self.kept_bytes -= change.size();
        }
    }
}

impl Undo {
    fn size(&self) -> usize {
        self.before.as_ref().map_or(0, |version| version.bytes.len())
    }
}

/// `join` of an empty path would append a separator.
fn join(path: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { path.to_owned() } else { path.join(rest) }
}
