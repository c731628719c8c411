use tool_runtime::prelude::*;

/// Wait.
#[tool(timeout = "soon")]
async fn wait() {}

/// Wait.
#[tool(timeout = "0s")]
async fn wait_not() {}

fn main() {}
