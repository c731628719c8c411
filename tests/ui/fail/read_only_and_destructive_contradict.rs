use tool_runtime::prelude::*;

/// Say hello.
#[tool(read_only, destructive)]
async fn greet() {}

fn main() {}
