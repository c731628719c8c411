//! The Model Context Protocol.

mod server;

#[cfg(all(feature = "http", feature = "cli"))]
pub(crate) use server::serve_http;
#[cfg(feature = "http")]
pub use server::{AuthRefusal, Authenticate, BearerTokens, HttpOptions, TokensError};
pub use server::{CacheScope, McpServer};
