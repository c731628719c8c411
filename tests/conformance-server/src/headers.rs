//! A tool whose argument stands in an HTTP header too.

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
