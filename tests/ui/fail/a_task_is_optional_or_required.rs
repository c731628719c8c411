use tool_runtime::prelude::*;

/// Wait.
#[tool(task = "maybe", progress = true, long_running)]
async fn wait() {}

fn main() {}
