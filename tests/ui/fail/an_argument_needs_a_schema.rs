use tool_runtime::prelude::*;

/// A point.
#[derive(serde::Deserialize)]
struct Point {
    _x: i64,
}

/// Go.
#[tool]
async fn go(
    /// The destination.
    _to: Vec<Point>,
) {
}

fn main() {}
