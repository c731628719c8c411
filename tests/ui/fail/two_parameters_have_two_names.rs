use tool_runtime::prelude::*;

/// Add.
#[tool]
async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    a: i64,
) -> i64 {
    a + a
}

fn main() {}
