//! Turn an annotated function into a tool, and tools into an MCP server, a command line, and
//! a pool that an agent calls.
//!
//! ```no_run
//! use tool_runtime::prelude::*;
//!
//! /// Add two integers.
//! #[tool(read_only, idempotent)]
//! async fn add(
//!     /// First addend.
//!     a: i64,
//!     /// Second addend.
//!     #[arg(default = 1, range = -1000..=1000)]
//!     b: i64,
//! ) -> i64 {
//!     a + b
//! }
//!
//! # #[cfg(feature = "cli")]
//! tool_runtime::main!();
//! # #[cfg(not(feature = "cli"))]
//! # fn main() {}
//! ```
//!
//! The function is left exactly as written: `add(2, 3).await` still works. Everything else
//! follows from its signature, see [`tool`](macro@tool).
//!
//! # Where things are
//!
//! | You want to | Look at |
//! |---|---|
//! | make a tool from a function | [`#[tool]`](macro@tool) |
//! | make a tool from a closure | [`Tool::builder`] |
//! | put tools together and call them | [`ToolPool`] |
//! | return images, errors, structured values | [`Observation`], [`ToolError`], [`Json`] |
//! | use state, cancellation, deadlines | [`ToolContext`] |
//! | ship a server binary | `main!`, `Cli`, `McpServer` |
//!
//! # Features
//!
//! | Feature | What for | Default |
//! |---|---|---|
//! | `macros` | `#[tool]` | yes |
//! | `linked` | link-time registration, [`ToolPoolBuilder::linked`] | yes |
//! | `mcp-server` | the MCP server over stdio | by `cli` |
//! | `cli` | the command line of the generated binary, `main!` | yes |

mod action;
mod annotations;
mod arguments;
mod call;
#[cfg(feature = "cli")]
mod cli;
mod constraint;
mod content;
mod context;
mod definition;
mod dispatch;
mod error;
mod input;
mod issue;
#[cfg(feature = "mcp-server")]
mod mcp;
mod name;
mod observation;
mod output;
mod parameter;
mod pool;
mod registration;
mod schema;
mod tool;

pub use action::Action;
pub use annotations::ToolAnnotations;
pub use arguments::{Arguments, DecodeError};
pub use call::{ToolCall, ToolResult};
#[cfg(feature = "cli")]
pub use cli::Cli;
pub use content::{
    ContentAnnotations, ContentBlock, ContentExtra, EmbeddedResource, MediaContent,
    ResourceContents, ResourceLink, TextContent,
};
pub use context::ToolContext;
pub use definition::ToolDefinition;
pub use dispatch::CallAction;
pub use error::{CallError, ErrorClass, ToolError};
pub use issue::Issue;
#[cfg(feature = "mcp-server")]
pub use mcp::McpServer;
pub use observation::{IntoObservation, Json, Observation};
pub use pool::{PoolError, PoolProblem, ToolPool, ToolPoolBuilder};
pub use registration::Registration;
pub use tokio_util::sync::CancellationToken;
pub use tool::{BoxFuture, Executor, Handler, Tool, ToolBuilder};

#[cfg(feature = "macros")]
#[doc = include_str!("../docs/tool.md")]
pub use tool_macros::tool;

/// What a file with tools needs: `use tool_runtime::prelude::*;`.
pub mod prelude {
    pub use crate::action::Action;
    pub use crate::call::{ToolCall, ToolResult};
    pub use crate::content::ContentBlock;
    pub use crate::context::ToolContext;
    pub use crate::definition::ToolDefinition;
    pub use crate::dispatch::CallAction;
    pub use crate::error::{ErrorClass, ToolError};
    pub use crate::observation::{IntoObservation, Json, Observation};
    pub use crate::pool::ToolPool;
    pub use crate::tool::Tool;
    #[cfg(feature = "macros")]
    pub use tool_macros::tool;
}

#[doc(hidden)]
pub mod __private;
