use tool_runtime::prelude::*;

/// A point.
#[derive(schemars::JsonSchema)]
struct Point {
    _x: i64,
}

/// Go.
#[tool]
async fn go(
    /// The destination.
    _to: Point,
) {
}

fn main() {}
