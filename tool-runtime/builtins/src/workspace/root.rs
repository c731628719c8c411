//! One directory of a workspace.

use super::Protected;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory that tools may touch, opened once.
pub struct Root {
    dir: Dir,
    /// Absolute, as the operator wrote it.
    path: PathBuf,
    /// Without symbolic links.
    canonical: PathBuf,
    protected: Arc<Protected>,
}

impl Root {
    pub(crate) fn open(path: &Path, protected: Arc<Protected>) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        let (path, canonical) = (std::path::absolute(path)?, path.canonicalize()?);
        Ok(Self { dir, path, canonical, protected })
    }

    /// What tools do not change.
    pub(crate) fn protected(&self) -> &Arc<Protected> {
        &self.protected
    }

    /// The handle through which every file below the root is reached.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The absolute path, as the operator wrote it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The absolute path without symbolic links, as it was when the root was opened.
    pub fn canonical_path(&self) -> &Path {
        &self.canonical
    }

    /// The absolute path without symbolic links and `..` of a path below the root, if it exists.
    pub(crate) fn canonical(&self, path: &Path) -> PathBuf {
        let inside = self.dir.canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.canonical.join(inside)
    }

    /// The path relative to the root of an absolute path, only by its names.
    pub(crate) fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        self.spellings().into_iter().find_map(|root| path.strip_prefix(root).ok())
    }

    /// The spellings of the root in absolute paths.
    pub(super) fn spellings(&self) -> [&Path; 2] {
        [&self.path, &self.canonical]
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Root").field("path", &self.path).finish_non_exhaustive()
    }
}
