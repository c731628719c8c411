//! Child processes: servers that are reached by their standard input and output.

mod command;
mod environment;
mod error;
mod lookup;
mod mask;
mod plain;
mod tail;

pub(in crate::mcp) use command::Command;
pub(in crate::mcp) use error::SpawnError;
