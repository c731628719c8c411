//! Parts that the MCP server and the MCP client of `tool-runtime` share.

#[cfg(feature = "http-client")]
pub mod http_client;
mod in_process;
pub mod lines;
pub mod numbers;
#[cfg(test)]
#[path = "../../core/property.rs"]
mod property;

pub use in_process::InProcessServer;
