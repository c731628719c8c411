use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(_context: ToolContext) {}

fn main() {}
