use tool_runtime::prelude::*;

/// A point.
#[derive(serde::Deserialize)]
struct Point {
    _x: i64,
}

struct Arrival;

#[tool(readonly, timeout = "soon", name = "go there")]
async fn go(
    _from: &str,
    _context: ToolContext,
    _to: Point,
    /// The vehicle.
    #[arg(default = 7, length = 5..=1, pattern = "(")]
    _by: String,
    /// The stops on the way.
    (_x, _y): (i64, i64),
) -> Arrival {
    Arrival
}

fn main() {}
