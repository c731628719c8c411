//! Tools for agents: files, search, shell, schedule.
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
//! | [`schedule`] | calls at set times, settings, webhooks |
//!
//! | Feature | Enables | Default |
//! |---|---|---|
//! | `files` | [`Builtins::files`] | yes |
//! | `search` | [`Builtins::search`] | no |
//! | `shell` | [`Builtins::shell`] | no |
//! | `schedule` | [`Builtins::schedule`], [`Builtins::settings`] | no |
//!
#![cfg_attr(not(feature = "files"), doc = "[`files`]: #\n[`Builtins::files`]: #")]
#![cfg_attr(not(feature = "search"), doc = "[`search`]: #\n[`Builtins::search`]: #")]
#![cfg_attr(not(feature = "shell"), doc = "[`shell`]: #\n[`Builtins::shell`]: #")]
#![cfg_attr(
    not(feature = "schedule"),
    doc = "[`schedule`]: #\n[`Builtins::schedule`]: #\n[`Builtins::settings`]: #"
)]

mod builtins;
#[cfg(feature = "files")]
pub mod files;
#[cfg(feature = "schedule")]
pub mod schedule;
#[cfg(feature = "search")]
pub mod search;
#[cfg(all(feature = "shell", unix))]
pub mod shell;
#[cfg(any(feature = "files", feature = "search", feature = "shell", feature = "schedule"))]
mod shown;
mod workspace;

pub use builtins::{Builtins, Profile};
#[cfg(any(feature = "files", feature = "search", feature = "shell", feature = "schedule"))]
pub use shown::Shown;
pub use workspace::{
    Clock, Location, Root, SystemClock, Workspace, WorkspaceBuilder, WorkspaceError,
};
