use tool_runtime::prelude::*;

/// Delete everything.
#[tool(destructive, meta = { "team": "a" }, readonlyy)]
async fn wipe() {}

/// Add.
#[tool(read-only, tags = ["a" "b"])]
async fn add(
    /// A number.
    #[arg(range = 5..=1, secret, default = (1 2))]
    x: i64,
) -> i64 {
    x
}

fn main() {}
