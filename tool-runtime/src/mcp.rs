//! The Model Context Protocol.

mod server;

pub use server::{CacheScope, McpServer};
