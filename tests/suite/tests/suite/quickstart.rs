//! The binary of the quickstart.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use suite::built::built;

/// The quickstart, built once per test run.
pub(super) fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| built("quickstart"))
}
