//! Tools for agents: files, search, shell, code.
//!
//! ```
//! use tool_runtime::prelude::*;
//! use tool_runtime_builtins::{Builtins, Workspace};
//!
//! let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
//! let pool = ToolPool::builder().install(Builtins::new(workspace).files()).build()?;
//! assert!(pool.tools().iter().any(|tool| tool.name() == "Read"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | Module | Topic |
//! |---|---|
//! | `workspace` | the directories that tools may touch, and what the families share |
//! | `builtins` | the extension of a pool: families, names, profiles |
//! | [`files`] | read, write, edit, patch, list, move, delete |
//! | [`search`] | find files by name and by content |
//! | [`shell`] | run commands |
//! | [`code`] | notebooks, worktrees of git, language servers |
//!
//! | Feature | Enables | Default |
//! |---|---|---|
//! | `files` | [`Builtins::files`] | yes |
//! | `search` | [`Builtins::search`] | no |
//! | `shell` | [`Builtins::shell`] | no |
//! | `code` | [`Builtins::code`], and `files` | no |
//!
#![cfg_attr(not(feature = "files"), doc = "[`files`]: #\n[`Builtins::files`]: #")]
#![cfg_attr(not(feature = "search"), doc = "[`search`]: #\n[`Builtins::search`]: #")]
#![cfg_attr(not(feature = "shell"), doc = "[`shell`]: #\n[`Builtins::shell`]: #")]
#![cfg_attr(not(feature = "code"), doc = "[`code`]: #\n[`Builtins::code`]: #")]

mod builtins;
#[cfg(feature = "code")]
pub mod code;
#[cfg(feature = "files")]
pub mod files;
#[cfg(all(any(feature = "code", feature = "shell"), unix))]
mod process_tree;
#[cfg(feature = "search")]
pub mod search;
#[cfg(all(feature = "shell", unix))]
pub mod shell;
#[cfg(any(feature = "files", feature = "search", feature = "shell"))]
mod shown;
mod workspace;

pub use builtins::{Builtins, Profile};
#[cfg(any(feature = "files", feature = "search", feature = "shell"))]
pub use shown::Shown;
pub use workspace::{
    Clock, Location, Root, SystemClock, Workspace, WorkspaceBuilder, WorkspaceError,
};
