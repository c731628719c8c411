//! The Model Context Protocol.

mod server;

pub use server::McpServer;
#[cfg(fuzzing)]
pub(crate) use server::fuzz;
#[cfg(all(feature = "http", feature = "cli"))]
pub(crate) use server::serve_http;
#[cfg(feature = "http")]
pub use server::{AuthRefusal, Authenticate, BearerTokens, HttpOptions, TokensError};
