//! The Model Context Protocol.

mod server;

#[cfg(feature = "http")]
pub use server::HttpOptions;
pub use server::McpServer;
#[cfg(all(feature = "http", feature = "cli"))]
pub(crate) use server::listen;
