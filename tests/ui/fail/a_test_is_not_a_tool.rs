use tool_runtime::prelude::*;

/// Add one.
#[tool]
#[test]
fn add_one() -> i64 {
    1
}

/// Add two.
#[tool]
#[tokio::test]
async fn add_two() -> i64 {
    2
}

fn main() {}
