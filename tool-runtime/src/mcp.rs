//! MCP servers: the server of a pool, and the clients of external servers.
//!
//! | Task | Item | Feature |
//! |---|---|---|
//! | serve a pool | `McpServer` | `mcp-server` |
//! | read `mcpServers` files | `McpConfig`, `McpConfigLoader`, `McpServerConfig` | `mcp-client` |
//! | explain what is wrong in a file | `McpConfigError`, `McpDiagnosis` | `mcp-client` |
//! | connect external servers | `McpManager`, `McpManagerBuilder` | `mcp-client` |
//! | show their state | `McpServerStatus`, `McpState`, `McpStatuses` | `mcp-client` |
//! | hold back changed tools | `McpPins`, `McpUnapproved` | `mcp-client` |
//! | end orphaned descendants of their processes | `Subreaper` | `mcp-client` |
//! | headers per request | `McpHeaderRequest` | `mcp-client-http` |
//! | OAuth | `McpAuthPage`, `McpTokens` | `mcp-client-oauth` |

#[cfg(all(feature = "cli", feature = "mcp-client"))]
#[doc(inline)]
pub use tool_runtime_cli::PinCommand;
#[cfg(feature = "mcp-client-http")]
#[doc(inline)]
pub use tool_runtime_client::McpHeaderRequest;
#[cfg(feature = "mcp-client-oauth")]
#[doc(inline)]
pub use tool_runtime_client::{McpAuthPage, McpTokens};
#[cfg(feature = "mcp-client")]
#[doc(inline)]
pub use tool_runtime_client::{
    McpChange, McpManager, McpManagerBuilder, McpManagerError, McpPin, McpPins, McpReader,
    McpServerStatus, McpState, McpStatuses, McpUnapproved, McpWriter, Subreaper,
};
#[cfg(feature = "mcp-client")]
#[doc(inline)]
pub use tool_runtime_config::{
    HttpConfig, McpAuth, McpConfig, McpConfigError, McpConfigLoader, McpConfigProblem,
    McpDiagnosis, McpDiagnosisLevel, McpOAuth, McpServerConfig, McpText, McpTransportConfig,
    StdioConfig,
};
#[cfg(feature = "mcp-server")]
#[doc(inline)]
pub use tool_runtime_server::{CacheScope, McpServer};
