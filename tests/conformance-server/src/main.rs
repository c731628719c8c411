//! The server that the official MCP conformance suite expects, written with the macros alone.
//!
//! Names and texts are those that the suite requires. Tools that ask their client are the same
//! functions in all protocol versions.

mod changes;
mod content;
mod forms;
mod headers;
mod prompts;
mod questions;
mod resources;
mod samples;
mod schema;
mod stages;
mod tasks;

tool_runtime::main!();
