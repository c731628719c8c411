use tool_runtime::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Point {
    _x: i64,
}

/// Go.
#[tool]
async fn go(_to: Point, #[arg(default = None)] _over: Option<Point>) {}

fn main() {}
