//! Entries of the roots that tools do not change: git's own, and what the operator protects.

mod places;

use places::{is_within, places};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The time after which the places of protected paths are found again: links may lead elsewhere.
const MAX_AGE: Duration = Duration::from_secs(1);

/// What tools do not change in any root.
#[derive(Debug, Default)]
pub(crate) struct Protected {
    git_settings: bool,
    /// What the operator protects.
    paths: RwLock<ProtectedPaths>,
    /// Directories of git that are not called `.git`, because a file or a link of that name names them.
    git_directories: Vec<PathBuf>,
}

/// Paths of the operator, and where they are.
#[derive(Clone, Debug, Default)]
struct ProtectedPaths {
    paths: Vec<PathBuf>,
    /// Without symbolic links: the links on the way, and what they lead to.
    places: Arc<[PathBuf]>,
    at: Option<Instant>,
}

impl ProtectedPaths {
    fn new(paths: Vec<PathBuf>) -> Self {
        let places = paths.iter().flat_map(|path| places(path)).collect();
        Self { paths, places, at: Some(Instant::now()) }
    }
}

impl Protected {
    pub(super) fn new(git_settings: bool, paths: Vec<PathBuf>, roots: &[PathBuf]) -> Self {
        let git_directories = roots.iter().flat_map(|root| named_git_directories(root)).collect();
        Self { git_settings, paths: RwLock::new(ProtectedPaths::new(paths)), git_directories }
    }

    /// Protects more paths.
    pub(super) fn add(&self, more: impl IntoIterator<Item = PathBuf>) {
        let mut found = self.paths.write().unwrap_or_else(PoisonError::into_inner);
        let mut paths = std::mem::take(&mut found.paths);
        for path in more {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        *found = ProtectedPaths::new(paths);
    }

    /// The places of what the operator protects.
    pub(crate) fn places(&self) -> Arc<[PathBuf]> {
        {
            let found = self.paths.read().unwrap_or_else(PoisonError::into_inner);
            let is_fresh = |at: Instant| at.elapsed() < MAX_AGE;
            if found.paths.is_empty() || found.at.is_some_and(is_fresh) {
                return Arc::clone(&found.places);
            }
        }
        let mut found = self.paths.write().unwrap_or_else(PoisonError::into_inner);
        *found = ProtectedPaths::new(std::mem::take(&mut found.paths));
        Arc::clone(&found.places)
    }

    /// Whether the operator protects something.
    pub(crate) fn has_places(&self) -> bool {
        !self.places().is_empty()
    }

    /// Whether commands and tools may change what git reads its settings from.
    pub(crate) fn allows_git_settings(&self) -> bool {
        self.git_settings
    }

    /// The reason why tools do not open an entry, by its path without symbolic links: to be continued.
    pub(crate) fn hides(&self, path: &Path) -> Option<&'static str> {
        let is_hidden = self.places().iter().any(|place| is_within(path, place));
        is_hidden.then_some("is protected: tools do not read or change it")
    }

    /// The reason why tools do not change an entry, by its path without symbolic links: to be continued. `below` is its path in the root.
    pub(crate) fn keeps(&self, path: &Path, below: &Path) -> Option<&'static str> {
        let contains = self.places().iter().any(|place| is_within(place, path));
        if contains {
            return Some("has a file or directory in it that is protected: tools do not change it");
        }
        // File systems may ignore case.
        let is_git = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
        let is_named = || self.git_directories.iter().any(|git| path.starts_with(git));
        if !self.git_settings && (below.components().any(is_git) || is_named()) {
            return Some(
                "belongs to git, whose settings name programs that run; use a command of git (the operator allows such changes by the option `git_settings`)",
            );
        }
        self.hides(path)
    }
}

#[cfg(all(feature = "__processes", unix))]
fn named_git_directories(root: &Path) -> Vec<PathBuf> {
    let is_plain = root.join(".git").symlink_metadata().is_ok_and(|entry| entry.is_dir());
    let repository = (!is_plain).then(|| super::Repository::at(root).ok()).flatten();
    repository.map_or(Vec::new(), |found| vec![found.git_dir, found.common])
}

/// Without programs, nobody runs what a repository names.
#[cfg(not(all(feature = "__processes", unix)))]
fn named_git_directories(_: &Path) -> Vec<PathBuf> {
    Vec::new()
}
