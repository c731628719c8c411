//! The Model Context Protocol.

mod canonical;
#[cfg(feature = "mcp-client")]
mod client;
#[cfg(feature = "mcp-client")]
use client::process;
#[cfg(feature = "mcp-client")]
mod config;
mod lines;
mod numbers;
#[cfg(feature = "mcp-server")]
mod server;

#[cfg(feature = "mcp-client-http")]
pub use client::McpHeaderRequest;
#[cfg(feature = "mcp-client-oauth")]
pub use client::{McpAuthPage, McpTokens};
#[cfg(feature = "mcp-client")]
pub use client::{
    McpChange, McpManager, McpManagerBuilder, McpManagerError, McpPin, McpPins, McpReader,
    McpServerStatus, McpState, McpStatuses, McpUnapproved, McpWriter, Subreaper,
};
#[cfg(feature = "mcp-client")]
pub use config::{
    HttpConfig, McpAuth, McpConfig, McpConfigError, McpConfigLoader, McpConfigProblem,
    McpDiagnosis, McpDiagnosisLevel, McpOAuth, McpServerConfig, McpText, McpTransportConfig,
    StdioConfig,
};
#[cfg(feature = "testing")]
pub(crate) use server::Caller;
#[cfg(fuzzing)]
pub(crate) use server::fuzz;
#[cfg(feature = "testing")]
pub(crate) use server::offered_beside_tools;
#[cfg(all(feature = "http", feature = "cli"))]
pub(crate) use server::serve_http;
#[cfg(feature = "http")]
pub use server::{AuthRefusal, Authenticate, BearerTokens, HttpOptions, TokensError};
#[cfg(feature = "mcp-server")]
pub use server::{CacheScope, McpServer};
