//! Tools for agents: files, search, shell, web, servers.
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
//! | [`web`] | fetch pages, search the web |
//! | [`servers`] | resources of external MCP servers |
//! | `addresses` | addresses that tools may connect to |
//!
//! | Feature | Enables | Default |
//! |---|---|---|
//! | `files` | [`Builtins::files`] | yes |
//! | `search` | [`Builtins::search`] | no |
//! | `shell` | [`Builtins::shell`] | no |
//! | `web` | [`Builtins::web`] | no |
//! | `servers` | [`Builtins::servers`] | no |
//!
#![cfg_attr(not(feature = "files"), doc = "[`files`]: #\n[`Builtins::files`]: #")]
#![cfg_attr(not(feature = "search"), doc = "[`search`]: #\n[`Builtins::search`]: #")]
#![cfg_attr(not(feature = "shell"), doc = "[`shell`]: #\n[`Builtins::shell`]: #")]
#![cfg_attr(not(feature = "servers"), doc = "[`servers`]: #\n[`Builtins::servers`]: #")]
#![cfg_attr(not(feature = "web"), doc = "[`web`]: #\n[`Builtins::web`]: #")]

#[cfg(feature = "web")]
mod addresses;
mod builtins;
#[cfg(feature = "files")]
pub mod files;
#[cfg(any(feature = "files", feature = "web"))]
mod image_block;
#[cfg(feature = "search")]
pub mod search;
#[cfg(feature = "servers")]
pub mod servers;
#[cfg(all(feature = "shell", unix))]
pub mod shell;
#[cfg(any(
    feature = "files",
    feature = "search",
    feature = "servers",
    feature = "shell",
    feature = "web"
))]
mod shown;
#[cfg(feature = "web")]
pub mod web;
mod workspace;

pub use builtins::{Builtins, Profile};
#[cfg(any(
    feature = "files",
    feature = "search",
    feature = "servers",
    feature = "shell",
    feature = "web"
))]
pub use shown::Shown;
pub use workspace::{
    Clock, Location, Root, SystemClock, Workspace, WorkspaceBuilder, WorkspaceError,
};
