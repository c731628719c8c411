//! Tools in the formats of model APIs. Users depend on `tool-runtime`, which exports everything public
//! here as `tool_runtime::export`.
//!
//! [`Snapshot::export`](tool_runtime_core::pool::Snapshot::export) gives definitions for requests and reads
//! the calls of responses:
//!
//! ```
//! use tool_runtime::export::Api;
//! use tool_runtime::prelude::*;
//!
//! /// Add two integers.
//! #[tool(read_only)]
//! async fn add(
//!     /// First addend.
//!     a: i64,
//!     /// Second addend.
//!     b: i64,
//! ) -> i64 {
//!     a + b
//! }
//!
//! let pool = ToolPool::builder().tool::<AddAction>().build()?;
//! let export = pool.snapshot().export(Api::OpenAiChat.strict());
//! assert_eq!(export.definitions()[0]["function"]["strict"], true);
//! # Ok::<(), tool_runtime::pool::PoolError>(())
//! ```
//!
//! | Module | Topic |
//! |---|---|
//! | `api`, `format` | the APIs, and their envelopes of definitions |
//! | `lower` | JSON Schema to the subset that an API takes |
//! | `budget` | the tools that may be strict in one request |
//! | `restore` | arguments of the exported schema to those of the tool's own |
//! | `response`, `stream` | responses, whole or streamed: calls, text, finish reason, and their messages in the next request |
//! | `results` | results to messages |
//! | `usage` | the tokens that a response used |

mod api;
mod budget;
mod format;
mod lower;
#[cfg(test)]
#[path = "../../core/property.rs"]
mod property;
mod response;
mod restore;
mod results;
mod stream;
mod usage;

pub use api::{Api, Strict};
pub use stream::{Delta, EventDeltas, ResponseStream, StreamError};
pub use tool_runtime_core::seam::estimate_tokens;
#[doc(inline)]
pub use tool_runtime_core::tool::export::{
    ApiFormat, ChangeKind, Export, Exported, FinishReason, ImportError, LeftOut, RestoreArguments,
    SchemaChange, ToolExport,
};
