use tool_runtime::prelude::*;

/// Add numbers.
#[tool]
async fn add(
    /// First.
    a i64,
    /// Second.
    b: i64,
) -> i64 {
    a + b
}

fn main() {}
