use tool_runtime::prelude::*;

/// Say hello.
#[tool(read_only idempotent, title = , 7)]
async fn greet() {}

fn main() {}
