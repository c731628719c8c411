//! Tools for agents: files, search, shell, code, the web, a browser, MCP resources, people, tasks, a schedule.
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
//! `guide` lists the tools of each family, and says what confines them.
//!
//! | Module | Topic |
//! |---|---|
//! | `workspace` | the directories that tools may touch, and what the families share |
//! | `sandbox`, `confine` | what confines the programs that tools start: the operator's choice, and the decision about each |
//! | `builtins` | the extension of a pool: families, names, profiles |
//! | `files` | read, write, edit, patch, list, move, delete |
//! | `search` | find files by name and by content |
//! | `shell` | run commands |
//! | `code` | notebooks, worktrees of git, language servers |
//! | `web`, `addresses` | fetch pages, search the web; addresses that tools may connect to |
//! | `browser` | use pages in a Chromium that is installed |
//! | `background` | work that goes on after its call, which scheduled jobs do not start |
//! | `caller`, `per_caller`, `random` | an agent of a session; a value for each; ids |
//! | `servers` | resources of external MCP servers |
//! | `people` | ask people, plan, keep lists, finish |
//! | `tasks` | tasks, teams, sub-agents |
//! | `schedule` | calls at set times, settings, webhooks |
//!
//! Jobs, outputs, tasks, settings and schedules belong to the principal of a call. All callers without authorization are
//! one principal: over HTTP, authorize callers who must not see or end each other's work.
//!
//! | Feature | Enables | Default |
//! |---|---|---|
//! | `files` | `Builtins::files` | yes |
//! | `search` | `Builtins::search` | no |
//! | `shell` | `Builtins::shell` | no |
//! | `code` | `Builtins::code`, and `files` | no |
//! | `web` | `Builtins::web` | no |
//! | `browser` | `Builtins::browser`, and `web` | no |
//! | `servers` | `Builtins::servers` | no |
//! | `people` | `Builtins::people` | no |
//! | `tasks` | `Builtins::tasks` | no |
//! | `schedule` | `Builtins::schedule`, `Builtins::settings` | no |

#[cfg(feature = "files")]
#[doc = include_str!("../docs/guide.md")]
pub mod guide {}

#[cfg(feature = "web")]
mod addresses;
#[cfg(any(feature = "schedule", feature = "shell", feature = "tasks"))]
mod background;
#[cfg(all(feature = "browser", unix))]
pub mod browser;
mod builtins;
#[cfg(any(feature = "browser", feature = "files", feature = "people", feature = "tasks"))]
mod caller;
#[cfg(feature = "code")]
pub mod code;
#[cfg(all(feature = "__processes", unix))]
#[allow(dead_code, unused_imports, reason = "each family uses some of it")]
mod confine;
#[cfg(any(feature = "files", feature = "schedule"))]
#[allow(dead_code, reason = "one family writes it, the other reads it")]
mod earlier_output;
#[cfg(feature = "files")]
pub mod files;
#[cfg(all(test, any(feature = "code", feature = "search", feature = "shell", feature = "web")))]
mod hints;
#[cfg(any(feature = "files", feature = "web"))]
mod image_block;
#[cfg(feature = "people")]
pub mod people;
#[cfg(any(feature = "browser", feature = "people", feature = "tasks"))]
mod per_caller;
#[cfg(all(feature = "__processes", unix))]
#[allow(dead_code, unused_imports, reason = "each family uses some of it")]
mod process;
#[cfg(all(feature = "__processes", unix))]
#[allow(dead_code, unused_imports, reason = "each family uses some of it")]
mod process_tree;
#[cfg(all(
    test,
    any(
        feature = "code",
        feature = "files",
        feature = "people",
        feature = "schedule",
        feature = "tasks"
    )
))]
#[path = "../../core/property.rs"]
mod property;
#[cfg(any(
    all(any(feature = "browser", feature = "shell"), unix),
    any(feature = "code", feature = "schedule", feature = "tasks")
))]
mod random;
#[cfg(all(feature = "__processes", unix))]
mod sandbox;
#[cfg(feature = "schedule")]
pub mod schedule;
#[cfg(feature = "search")]
pub mod search;
#[cfg(feature = "servers")]
pub mod servers;
#[cfg(all(feature = "shell", unix))]
pub mod shell;
#[cfg(feature = "tasks")]
pub mod tasks;
#[cfg(all(test, any(feature = "code", feature = "files", feature = "shell", feature = "web")))]
mod test_time;
#[cfg(any(feature = "schedule", feature = "web"))]
mod tls;
mod tool_output;
#[cfg(feature = "web")]
pub mod web;
mod workspace;

pub use builtins::{Builtins, Profile};
#[cfg(all(feature = "__processes", unix))]
pub use sandbox::{Sandbox, SandboxParams};
pub use tool_output::ToolOutput;
pub use workspace::{
    Clock, Location, Root, SystemClock, Workspace, WorkspaceBuilder, WorkspaceError,
};
