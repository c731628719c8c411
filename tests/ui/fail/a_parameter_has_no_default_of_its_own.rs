use tool_runtime::prelude::*;

/// Add.
#[tool]
async fn add(
    /// The first.
    a: i64 = 1,
    /// The second.
    b: i64,
) -> i64 {
    a + b
}

/// Subtract.
#[tool]
async fn subtract(
    a: i64, /// The first.
    b: i64, /// The second.
) -> i64 {
    a - b
}

fn main() {}
