//! Entries of the roots that tools do not change: git's own, and what the operator protects.

use std::path::{Component, Path, PathBuf};

/// What tools do not change in any root.
#[derive(Debug, Default)]
pub(crate) struct Protected {
    git_settings: bool,
    /// Without symbolic links.
    directories: Vec<PathBuf>,
    /// Directories of git that are not called `.git`, because a file or a link of that name names them.
    git_directories: Vec<PathBuf>,
}

impl Protected {
    pub(super) fn new(git_settings: bool, directories: Vec<PathBuf>, roots: &[PathBuf]) -> Self {
        let git_directories = roots.iter().flat_map(|root| named_git_directories(root)).collect();
        Self { git_settings, directories, git_directories }
    }

    /// The directories that the operator protects.
    pub(crate) fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// Whether the operator protects directories.
    pub(crate) fn has_directories(&self) -> bool {
        !self.directories.is_empty()
    }

    /// Whether commands and tools may change what git reads its settings from.
    pub(crate) fn allows_git_settings(&self) -> bool {
        self.git_settings
    }

    /// The reason why tools do not open an entry, by its path without symbolic links: to be continued.
    pub(crate) fn hides(&self, path: &Path) -> Option<&'static str> {
        let is_hidden = self.directories.iter().any(|directory| path.starts_with(directory));
        is_hidden.then_some("is protected: tools do not read or change it")
    }

    /// The reason why tools do not change an entry, by its path without symbolic links: to be continued. `below` is its path in the root.
    pub(crate) fn keeps(&self, path: &Path, below: &Path) -> Option<&'static str> {
        let contains = self.directories.iter().any(|directory| directory.starts_with(path));
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
