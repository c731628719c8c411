use tool_runtime::prelude::*;

/// Say hello.
#[tool(read_only)]
#[tool]
async fn greet() {}

fn main() {}
