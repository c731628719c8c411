use tool_runtime::prelude::*;

/// Say hello.
#[tool(inline)]
async fn greet() {}

fn main() {}
