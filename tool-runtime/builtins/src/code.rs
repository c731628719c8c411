//! Tools for code: notebooks, worktrees of git, language servers.
//!
//! | Module | Topic |
//! |---|---|
//! | `params` | settings of the operator |
//! | `notebook` | cells of Jupyter notebooks |
//! | `worktree` | copies of a repository, each on a branch of its own |
//! | `lsp` | questions to language servers |
//! | `process` | programs that the tools start |

#[cfg(unix)]
mod lsp;
mod notebook;
mod params;
#[cfg(unix)]
mod process;
#[cfg(all(test, unix))]
mod tests;
#[cfg(unix)]
mod worktree;

#[cfg(unix)]
pub use lsp::{LanguageServers, LspItem, LspOperation, LspOutput};
pub use notebook::{CellType, NotebookCommand, NotebookOutput, Notebooks};
pub use params::{CodeParams, LanguageServer, WorktreeParams};
#[cfg(unix)]
pub use worktree::{ExitAction, ExitOutput, WorktreeOutput, Worktrees};
