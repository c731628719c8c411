//! The queue `math`.

use tool_runtime::prelude::*;

/// Add two integers.
#[tool(name = "math.add", read_only, idempotent)]
async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: i64,
) -> i64 {
    a + b
}
