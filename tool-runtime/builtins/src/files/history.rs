//! The versions of files that a model has seen, and the changes that can be undone.
//!
//! A change keeps the name that its entry had then. Names that changed since are followed when it is looked up, so that
//! undoing moves restores what was known of both names.
//!
//! The changes of one call are a commit. When there is no room, the oldest commits are dropped whole.

use super::snapshot::{Hash, Snapshot, Stamp};
use crate::caller::Caller;
use crate::workspace::Location;
use cap_std::fs::Permissions;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::RangeBounds;
use std::path::{Path, PathBuf};

/// Changes of one file that can be undone.
pub(super) const MAX_UNDO: usize = 10;

/// Bytes of all versions that are kept. The newest commit is kept even if it has more.
const MAX_KEPT_BYTES: usize = 64 * 1024 * 1024;

/// Files whose version is remembered. Models read one again that is forgotten.
const MAX_SEEN: usize = 50_000;

/// Callers whose version of a file is remembered.
const MAX_CALLERS: usize = 64;

/// The approximate size of a change without content.
const OVERHEAD: usize = 1024;

/// The versions of files that a workspace has read and written.
#[derive(Default)]
pub(crate) struct FileHistory {
    /// By caller: what one has read, another has not.
    seen: HashMap<PathBuf, Vec<(Caller, Seen)>>,
    /// The changes of all files, oldest first.
    changes: VecDeque<Undo>,
    kept_bytes: usize,
    /// Entries whose changes were dropped.
    dropped: HashSet<PathBuf>,
    /// Number of all changes.
    recorded: u64,
    /// Number of all commits.
    commits: u64,
}

/// The version that a caller saw.
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
    commit: u64,
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
    /// A file, link or directory got another name, and a file perhaps new content.
    Moved { from: PathBuf, edit: Option<Edit> },
    /// A symbolic link was deleted.
    LinkDeleted { target: PathBuf },
    /// An empty directory was deleted.
    DirectoryDeleted { permissions: Permissions },
}

/// New content of a file that was moved.
#[derive(Clone)]
pub(super) struct Edit {
    pub(super) before: Version,
    pub(super) after: Hash,
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
    /// The version that the caller saw last.
    pub(super) fn seen(&self, key: &Path, caller: &Caller) -> Option<Seen> {
        let mut callers = self.seen.get(key)?.iter();
        callers.find(|(known, _)| known == caller).map(|(_, version)| *version)
    }

    pub(super) fn see(&mut self, key: &Path, caller: &Caller, version: Seen) {
        if self.seen.len() >= MAX_SEEN {
            self.seen.clear();
        }
        let callers = self.seen.entry(key.to_owned()).or_default();
        callers.retain(|(known, _)| known != caller);
        if callers.len() >= MAX_CALLERS {
            callers.remove(0);
        }
        callers.push((caller.clone(), version));
    }

    /// Remembers the changes of one call.
    pub(super) fn record(
        &mut self,
        caller: &Caller,
        changes: impl IntoIterator<Item = (PathBuf, Action, Vec<Location>)>,
    ) {
        self.commits += 1;
        for (key, action, directories) in changes {
            match &action {
                Action::Content { after, .. } => self.see_or_forget(&key, caller, *after),
                Action::Moved { from, edit } => {
                    self.rename_known(from, &key);
                    if let Some(edit) = edit {
                        self.see(&key, caller, Seen::Whole(edit.after));
                    }
                }
                Action::LinkDeleted { .. } | Action::DirectoryDeleted { .. } => {}
            }
            self.recorded += 1;
            let (number, commit) = (self.recorded, self.commits);
            let change = Undo { number, commit, key, action, directories };
            self.drop_oldest_of(&change.key);
            self.kept_bytes += change.size();
            self.changes.push_back(change);
        }
        while self.kept_bytes > MAX_KEPT_BYTES
            && let Some(oldest) = self.changes.front()
            && oldest.commit != self.commits
        {
            self.drop_commit(oldest.commit);
        }
    }

    /// Makes room for one more change of an entry.
    fn drop_oldest_of(&mut self, key: &Path) {
        let of_entry = self.changes.iter().filter(|change| change.key == key);
        let commits: Vec<u64> = of_entry.map(|change| change.commit).collect();
        if commits.len() >= MAX_UNDO {
            self.drop_commit(commits[0]);
        }
    }

    fn drop_commit(&mut self, commit: u64) {
        if self.dropped.len() >= MAX_SEEN {
            self.dropped.clear();
        }
        while let Some(index) = self.changes.iter().position(|change| change.commit == commit) {
            let Some(change) = self.remove(index) else { return };
            if let Action::Moved { from, .. } = &change.action {
                // Earlier changes are found by the name of now.
                self.rename_changes(..index, from, &change.key);
            }
            self.dropped.insert(change.key);
        }
    }

    /// Whether changes of an entry were dropped, so that they cannot be undone.
    pub(super) fn has_dropped(&self, key: &Path) -> bool {
        self.dropped.contains(key)
    }

    /// The last change of an entry. Changes before a directory got another name are found by the new one.
    pub(super) fn last(&self, key: &Path) -> Option<&Undo> {
        let mut key = key.to_owned();
        for change in self.changes.iter().rev() {
            if change.key == key {
                return Some(change);
            }
            let Action::Moved { from, .. } = &change.action else { continue };
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
        let Some((index, change)) = index.and_then(|index| Some((index, self.remove(index)?)))
        else {
            return;
        };
        if let Action::Moved { from, .. } = change.action {
            // Later changes belong to the name of before again.
            self.rename_known(&change.key, &from);
            self.rename_changes(index.., &change.key, &from);
        }
    }

    fn rename_changes(&mut self, range: impl RangeBounds<usize>, from: &Path, to: &Path) {
        for change in self.changes.range_mut(range) {
            if let Some(key) = renamed(&change.key, from, to) {
                change.key = key;
            }
            if let Action::Moved { from: source, .. } = &mut change.action
                && let Some(key) = renamed(source, from, to)
            {
                *source = key;
            }
        }
    }

    /// The version that the caller has written itself.
    pub(super) fn see_or_forget(&mut self, key: &Path, caller: &Caller, version: Option<Hash>) {
        match version {
            Some(hash) => self.see(key, caller, Seen::Whole(hash)),
            None => drop(self.seen.remove(key)),
        }
    }

    /// Versions that were seen and changes that were dropped belong to another name now.
    fn rename_known(&mut self, from: &Path, to: &Path) {
        let keys: Vec<PathBuf> =
            self.seen.keys().filter(|key| key.starts_with(from)).cloned().collect();
        for key in keys {
            if let (Some(seen), Some(new)) = (self.seen.remove(&key), renamed(&key, from, to)) {
                self.seen.insert(new, seen);
            }
        }
        let dropped = self.dropped.drain().map(|key| renamed(&key, from, to).unwrap_or(key));
        self.dropped = dropped.collect();
    }

    fn remove(&mut self, index: usize) -> Option<Undo> {
        let change = self.changes.remove(index)?;
        self.kept_bytes -= change.size();
        Some(change)
    }
}

impl Undo {
    fn size(&self) -> usize {
        let content = match &self.action {
            Action::Content { before: Some(version), .. }
            | Action::Moved { edit: Some(Edit { before: version, .. }), .. } => version.bytes.len(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn version(length: usize) -> Version {
        let permissions = cap_std::fs::Permissions::from_std(
            std::fs::metadata(env!("CARGO_MANIFEST_DIR")).unwrap().permissions(),
        );
        Version { bytes: vec![b'x'; length], permissions }
    }

    fn caller() -> Caller {
        Caller::of(&tool_runtime::ToolContext::default())
    }

    fn content(key: &str, length: usize) -> (PathBuf, Action, Vec<Location>) {
        let action = Action::Content { before: Some(version(length)), after: Some([0; 32]) };
        (key.into(), action, Vec::new())
    }

    #[test]
    fn the_content_of_a_file_as_large_as_the_history_is_kept() {
        let mut history = FileHistory::default();
        history.record(&caller(), [content("small", 1)]);
        let edit = Edit { before: version(MAX_KEPT_BYTES), after: [1; 32] };
        let moved = Action::Moved { from: "a".into(), edit: Some(edit) };
        history.record(&caller(), [("b".into(), moved, Vec::new())]);
        for name in ["a", "b"] {
            let action = &history.last(Path::new(name)).unwrap().action;
            assert!(
                matches!(action, Action::Moved { edit: Some(edit), .. } if edit.before.bytes.len() == MAX_KEPT_BYTES)
            );
        }
        assert!(history.last(Path::new("small")).is_none());
        assert!(history.has_dropped(Path::new("small")) && !history.has_dropped(Path::new("b")));
    }

    #[test]
    fn commits_are_dropped_whole() {
        let mut history = FileHistory::default();
        let kept = |history: &FileHistory| {
            ["a", "b", "c", "d"].map(|key| history.last(Path::new(key)).is_some())
        };
        history.record(&caller(), [content("a", 1), content("b", MAX_KEPT_BYTES), content("c", 1)]);
        assert_eq!(kept(&history), [true, true, true, false]);
        history.record(&caller(), [content("d", 1)]);
        assert_eq!(kept(&history), [false, false, false, true]);
        assert!(["a", "b", "c"].iter().all(|key| history.has_dropped(Path::new(key))));
    }

    /// A move is dropped from the middle of the history, with the patch that it belongs to.
    #[test]
    fn changes_before_a_dropped_move_are_found_by_the_new_name() {
        let mut history = FileHistory::default();
        history.record(&caller(), [content("a", 1)]);
        let moved = Action::Moved { from: "a".into(), edit: None };
        history.record(&caller(), [("b".into(), moved, Vec::new()), content("c", 1)]);
        for _ in 0..MAX_UNDO {
            history.record(&caller(), [content("c", 1)]);
        }
        assert!(history.last(Path::new("a")).is_none());
        assert!(matches!(history.last(Path::new("b")).unwrap().action, Action::Content { .. }));
    }
}
