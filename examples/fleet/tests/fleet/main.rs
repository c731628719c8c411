//! The example as real processes: its scripts, the commands `run` and `remote`, and MCP clients of a gateway.

mod away;
mod clients;
mod commands;
mod processes;
mod readme;
mod scripts;
