//! Files with rules of what to skip. The walk opens them by path, so each is examined before: reading a link to a device
//! does not end, a named pipe blocks, and a link may lead out of the root.

use super::walk;
use crate::workspace::{Location, Root};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tool_runtime::__seam::lock;

const NAMES: [&str; 3] = [".gitignore", ".ignore", ".rgignore"];
const GIT: &str = ".git";
const EXCLUDE: &str = ".git/info/exclude";
const MAX_BYTES: u64 = 1 << 20;

/// Examines the directories of a walk, and keeps those that are left out.
#[derive(Clone)]
pub(super) struct IgnoreFiles {
    root: Arc<Root>,
    /// The directory that the walk begins at, relative to the root, and absolute.
    start: PathBuf,
    top: PathBuf,
    left_out: Arc<Mutex<LeftOut>>,
}

#[derive(Default)]
struct LeftOut {
    count: usize,
    /// The file in one of them.
    example: PathBuf,
}

impl IgnoreFiles {
    pub(super) fn new(location: &Location) -> Self {
        let (root, top) = (Arc::clone(location.root()), location.absolute());
        Self { root, start: location.path().to_owned(), top, left_out: Arc::default() }
    }

    /// Whether the rules for the first directory can be read, which those above it have as well.
    pub(super) fn allow_start(&self) -> bool {
        self.start.ancestors().all(|directory| self.allow(directory))
    }

    /// Whether a directory of the walk can be entered.
    pub(super) fn allow_below(&self, directory: &Path) -> bool {
        directory
            .strip_prefix(&self.top)
            .is_ok_and(|below| self.allow(&walk::join(&self.start, below)))
    }

    fn allow(&self, directory: &Path) -> bool {
        let Some(name) = self.unreadable(directory) else { return true };
        let mut left_out = lock(&self.left_out);
        left_out.count += 1;
        left_out.example = directory.join(name);
        false
    }

    /// The name of a file with rules that cannot be read.
    fn unreadable(&self, directory: &Path) -> Option<&'static str> {
        let name = NAMES.into_iter().find(|name| !self.is_readable(&directory.join(name)));
        let git = self.root.path().join(directory).join(GIT);
        name.or_else(|| match fs::metadata(&git).ok()? {
            metadata if metadata.is_dir() => {
                (!self.is_readable(&directory.join(EXCLUDE))).then_some(EXCLUDE)
            }
            metadata if metadata.is_file() => (!is_worktree_readable(&git)).then_some(GIT),
            _ => None,
        })
    }

    /// Most directories have no such file, and most of these are small: one question by path answers for both.
    fn is_readable(&self, path: &Path) -> bool {
        let is_small = |is_file: bool, bytes: u64| is_file && bytes <= MAX_BYTES;
        let Ok(metadata) = fs::symlink_metadata(self.root.path().join(path)) else { return true };
        if metadata.is_dir() || is_small(metadata.is_file(), metadata.len()) {
            return true;
        }
        match self.root.dir().metadata(path) {
            Ok(metadata) => metadata.is_dir() || is_small(metadata.is_file(), metadata.len()),
            Err(error) => error.kind() == ErrorKind::NotFound,
        }
    }

    /// The remark on directories that were left out.
    pub(super) fn notice(&self, location: &Location) -> Option<String> {
        let left_out = lock(&self.left_out);
        let example = location.with_path(&left_out.example);
        (left_out.count > 0).then(|| {
            format!(
                "directories that were left out: {}, as the rules of `{example}` are not in a regular file of at most \
                 1 MiB, or outside the root; `no_ignore` searches them",
                left_out.count
            )
        })
    }
}

/// Whether the rules of a linked worktree can be read. Its `.git` names a directory of git, which names the common one:
/// usually outside the root.
fn is_worktree_readable(git: &Path) -> bool {
    let is_small = |path: &Path| {
        fs::metadata(path).map_or(true, |file| file.is_file() && file.len() <= MAX_BYTES)
    };
    let first_line = |path: &Path| {
        let bytes = is_small(path).then(|| fs::read(path).ok()).flatten()?;
        String::from_utf8_lossy(&bytes).lines().next().map(str::to_owned)
    };
    let named = first_line(git);
    let Some(directory) = named.as_deref().and_then(|line| line.strip_prefix("gitdir: ")) else {
        return is_small(git);
    };
    let common = Path::new(directory).join("commondir");
    match first_line(&common) {
        Some(line) if line.starts_with('.') => {
            is_small(&Path::new(directory).join(line).join("info/exclude"))
        }
        Some(line) => is_small(&Path::new(&line).join("info/exclude")),
        None => is_small(&common),
    }
}
