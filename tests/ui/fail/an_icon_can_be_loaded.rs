use tool_runtime::prelude::*;

/// Look.
#[tool(icon("https://example.com/a.png", "file:///tmp/a.png"))]
async fn look() {}

fn main() {}
