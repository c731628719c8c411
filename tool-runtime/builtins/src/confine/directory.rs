//! Directories that programs may change, as they are at the start.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// A directory, or a file that the operator named.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    pub(super) path: PathBuf,
    pub(super) handle: Arc<File>,
}

impl Directory {
    /// `None`: it does not exist, so that programs cannot change it.
    pub(super) fn open(path: PathBuf) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let handle = Arc::new(File::open(&path).ok()?);
        Some(Self { path, handle })
    }

    /// Checks that the path leads to the directory that was opened.
    pub(super) fn check(&self) -> io::Result<()> {
        let (now, opened) = (rustix::fs::stat(&self.path)?, rustix::fs::fstat(&self.handle)?);
        if (now.st_dev, now.st_ino) == (opened.st_dev, opened.st_ino) {
            return Ok(());
        }
        let path = self.path.display();
        Err(io::Error::other(format!(
            "`{path}` is another directory than at the start; restart the program"
        )))
    }
}

/// A directory of only this user, and not one for temporary files, which commands may change. `None` if it cannot be
/// created.
pub(crate) fn private_directory(name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::DirBuilderExt as _;
    let absolute =
        |path: std::ffi::OsString| Some(PathBuf::from(path)).filter(|it| it.is_absolute());
    let cache = std::env::var_os("XDG_CACHE_HOME").and_then(absolute);
    let cache = cache.or_else(|| Some(std::env::home_dir()?.join(".cache")))?;
    let path = cache.join("tool-runtime").join(name);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).ok()?;
    Some(path)
}
