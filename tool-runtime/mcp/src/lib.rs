//! Parts that the MCP server and the MCP client of `tool-runtime` share.

mod in_process;
pub mod lines;
pub mod numbers;

pub use in_process::InProcessServer;
