use tool_runtime::prelude::*;

/// A point.
#[derive(schemars::JsonSchema)]
struct Point {
    _x: i64,
}

/// Go.
#[tool]
async fn go(
    /// Where to.
    _to: Point,
) {
}

fn main() {}
