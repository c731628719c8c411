//! The next version of the queue `math`, for a rolling update: its tool takes a third number.

use tool_runtime::prelude::*;

/// Add two or three integers.
#[tool(name = "math.add", read_only, idempotent)]
async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: i64,
    /// Third addend.
    #[arg(default = 0)]
    c: i64,
) -> i64 {
    a + b + c
}

tool_runtime::main!(runner = true);
