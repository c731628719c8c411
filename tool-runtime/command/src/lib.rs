//! Commands that a pool adds to the command line of its program. Users depend on `tool-runtime`, which exports
//! everything public here as `tool_runtime::cli`.
//!
//! The crates of policies, logs and approvals bring commands without the command line itself, and with it the server.

mod command;
mod form;
mod output;
mod pool;

#[doc(hidden)]
pub mod seam;

pub use command::{CliCommand, CommandArguments};
pub use form::{ArgumentCount, CommandArgument, CommandForm, CommandOption};
pub use pool::PoolCommands;
