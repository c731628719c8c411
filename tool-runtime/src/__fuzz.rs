//! What the fuzz targets look into. Only there with `--cfg fuzzing`, and part of no promise.

pub use tool_runtime_core::__fuzz::*;
#[cfg(feature = "http")]
pub use tool_runtime_server::fuzz::serve_http;
#[cfg(feature = "mcp-server")]
pub use tool_runtime_server::fuzz::{Fate, fates, inline, serve};
