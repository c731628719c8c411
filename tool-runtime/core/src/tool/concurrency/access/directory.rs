//! The directory at which relative paths in keys begin.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

thread_local! {
    /// The directory of the tool whose keys are computed on this thread.
    static DIRECTORY: RefCell<Option<Arc<Path>>> = const { RefCell::new(None) };
}

/// Computes keys whose relative paths begin at a directory; `None` is that of the process.
pub(crate) fn in_directory<T>(directory: Option<&Arc<Path>>, compute: impl FnOnce() -> T) -> T {
    let Some(directory) = directory else { return compute() };
    let before = DIRECTORY.replace(Some(Arc::clone(directory)));
    let _restored = Restore(before);
    compute()
}

/// Restores the directory, also after a panic.
struct Restore(Option<Arc<Path>>);

impl Drop for Restore {
    fn drop(&mut self) {
        DIRECTORY.set(self.0.take());
    }
}

/// The path of a key from the directory on.
pub(super) fn from_directory(path: &str) -> PathBuf {
    DIRECTORY.with_borrow(|directory| match directory {
        Some(directory) if !path.is_empty() => directory.join(path),
        _ => PathBuf::from(path),
    })
}
