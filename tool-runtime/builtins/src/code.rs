//! Tools for code: notebooks, worktrees of git, language servers.

mod notebook;

pub use notebook::{CellType, NotebookCommand, NotebookOutput, Notebooks};

/// Settings.
#[derive(Clone, Debug, Default)]
pub struct CodeParams {}
