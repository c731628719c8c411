//! The versions of files that a model has seen, and the changes of content that can be undone.
//!
//! What is known of an entry moves with it.
//!
//! The changes of one call are a commit. When there is no room, the oldest commits are dropped whole.

use super::coverage::{ChangedLines, Unread};
use super::snapshot::{Hash, Snapshot};
use crate::caller::Caller;
use cap_std::fs::Permissions;
use std::collections::{HashMap, HashSet, VecDeque};
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

/// The version of a file that a caller saw last.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) version: Hash,
    pub(super) unread: Unread,
}

/// A change that can be undone.
#[derive(Clone)]
pub(super) struct Undo {
    pub(super) number: u64,
    commit: u64,
    /// The file, by its name now.
    pub(super) key: PathBuf,
    pub(super) content: Content,
}

/// New content of a file.
#[derive(Clone)]
pub(super) struct Content {
    /// `None` if the file was created.
    pub(super) before: Option<Version>,
    /// `None` if the file was deleted.
    pub(super) after: Option<Hash>,
}

/// What a call did to a file.
pub(super) struct Done {
    /// The file; of one that was moved, its new name.
    pub(super) key: PathBuf,
    pub(super) moved_from: Option<PathBuf>,
    /// `None` if the content is the same.
    pub(super) content: Option<Content>,
    /// The lines that changed. `None` if they are not those that `Read` counts.
    pub(super) lines: Option<ChangedLines>,
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
    pub(super) fn seen(&self, key: &Path, caller: &Caller) -> Option<&Seen> {
        let mut callers = self.seen.get(key)?.iter();
        callers.find(|(known, _)| known == caller).map(|(_, seen)| seen)
    }

    /// Remembers what a caller has read. Parts of one version add up.
    pub(super) fn see(&mut self, key: &Path, caller: &Caller, mut seen: Seen) {
        if let Some(before) = self.seen(key, caller).filter(|before| before.version == seen.version)
        {
            seen.unread = seen.unread.and(&before.unread);
        }
        if self.seen.len() >= MAX_SEEN {
            self.seen.clear();
        }
        let callers = self.seen.entry(key.to_owned()).or_default();
        callers.retain(|(known, _)| known != caller);
        if callers.len() >= MAX_CALLERS {
            callers.remove(0);
        }
        callers.push((caller.clone(), seen));
    }

    /// Remembers the changes of one call.
    pub(super) fn record(&mut self, caller: &Caller, changes: impl IntoIterator<Item = Done>) {
        self.commits += 1;
        for Done { key, moved_from, content, lines } in changes {
            if let Some(from) = moved_from {
                self.moved(&from, &key);
            }
            let Some(content) = content else { continue };
            self.see_or_forget(&key, caller, content.after, lines);
            self.recorded += 1;
            let (number, commit) = (self.recorded, self.commits);
            let change = Undo { number, commit, key, content };
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
            self.dropped.insert(change.key);
        }
    }

    /// Whether changes of an entry were dropped, so that they cannot be undone.
    pub(super) fn has_dropped(&self, key: &Path) -> bool {
        self.dropped.contains(key)
    }

    /// The last change of a file.
    pub(super) fn last(&self, key: &Path) -> Option<&Undo> {
        self.changes.iter().rev().find(|change| change.key == key)
    }

    /// Forgets a change, which was undone.
    pub(super) fn undone(&mut self, number: u64) {
        if let Some(index) = self.changes.iter().position(|change| change.number == number) {
            self.remove(index);
        }
    }

    /// The version that the caller has written itself. What was unread before stays so.
    pub(super) fn see_or_forget(
        &mut self,
        key: &Path,
        caller: &Caller,
        version: Option<Hash>,
        lines: Option<ChangedLines>,
    ) {
        let unread = self.seen(key, caller).map(|seen| seen.unread.after(lines));
        match version {
            Some(version) => {
                self.see(key, caller, Seen { version, unread: unread.unwrap_or_default() });
            }
            None => drop(self.seen.remove(key)),
        }
    }

    /// What is known of an entry, and of those below it, belongs to another name now. What had that name is gone.
    pub(super) fn moved(&mut self, from: &Path, to: &Path) {
        while let Some(index) = self.changes.iter().position(|change| change.key.starts_with(to)) {
            self.remove(index);
        }
        for change in &mut self.changes {
            if let Some(key) = rename(&change.key, from, to) {
                change.key = key;
            }
        }
        let keys: Vec<PathBuf> =
            self.seen.keys().filter(|key| key.starts_with(from)).cloned().collect();
        for key in keys {
            if let (Some(seen), Some(new)) = (self.seen.remove(&key), rename(&key, from, to)) {
                self.seen.insert(new, seen);
            }
        }
        let dropped = self.dropped.drain().map(|key| rename(&key, from, to).unwrap_or(key));
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
        let content = self.content.before.as_ref().map_or(0, |version| version.bytes.len());
        content + OVERHEAD
    }
}

/// The key of an entry whose directory, or itself, got another name.
fn rename(key: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
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
        Caller::from_context(&tool_runtime::ToolContext::default())
    }

    fn content(key: &str, length: usize) -> Done {
        let content = Content { before: Some(version(length)), after: Some([0; 32]) };
        Done { key: key.into(), moved_from: None, content: Some(content), lines: None }
    }

    #[test]
    fn the_content_of_a_file_as_large_as_the_history_is_kept() {
        let mut history = FileHistory::default();
        history.record(&caller(), [content("small", 1)]);
        let moved = Done { moved_from: Some("a".into()), ..content("b", MAX_KEPT_BYTES) };
        history.record(&caller(), [moved]);
        let content = &history.last(Path::new("b")).unwrap().content;
        assert_eq!(content.before.as_ref().unwrap().bytes.len(), MAX_KEPT_BYTES);
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

    #[test]
    fn changes_move_with_an_entry_and_replace_those_of_its_new_name() {
        let mut history = FileHistory::default();
        history.record(&caller(), [content("d/a", 1), content("e/a", 2), content("e/b", 3)]);
        history.moved(Path::new("d"), Path::new("e"));
        assert!(history.last(Path::new("d/a")).is_none());
        let content = &history.last(Path::new("e/a")).unwrap().content;
        assert_eq!(content.before.as_ref().unwrap().bytes.len(), 1);
        assert!(history.last(Path::new("e/b")).is_none());
        assert_eq!(history.kept_bytes, 1 + OVERHEAD);
    }
}
