use tool_runtime::prelude::*;

/// Go.
#[tool(description: "Go.", read_only)]
async fn go(
    /// The distance.
    #[arg(default: 1)]
    _far: i64,
) {
}

fn main() {}
