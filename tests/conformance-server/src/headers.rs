//! A tool with an argument that is repeated in an HTTP header.

use tool_runtime::prelude::*;

/// Repeat a value.
#[tool(read_only)]
fn test_custom_header(
    /// The value.
    #[arg(header = "Value")]
    value: String,
) -> String {
    value
}
