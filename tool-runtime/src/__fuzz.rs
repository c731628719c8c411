//! Entry points for the fuzz targets. Not part of the public API.

pub use tool_runtime_core::__fuzz::*;
#[cfg(feature = "http")]
pub use tool_runtime_server::fuzz::serve_http;
#[cfg(feature = "mcp-server")]
pub use tool_runtime_server::fuzz::{LineOutcome, inline, line_outcomes, serve};
