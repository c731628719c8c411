//! The running program.

use std::env::args_os;
use std::path::{Path, PathBuf};

/// The name of this program, without its folder and extension; `tools` if it has none.
pub fn program_name() -> String {
    let program = args_os().next().map(PathBuf::from);
    let stem = program.as_deref().and_then(Path::file_stem);
    stem.map_or_else(|| "tools".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
