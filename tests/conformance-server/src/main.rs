//! The server that the official MCP conformance suite expects, written with the macros alone.
//!
//! What everything here is called and says is the suite's choice. Tools that turn to their client
//! are the same functions for both eras of the protocol.

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
