use tool_runtime::prelude::*;

/// Go.
#[tool(visualize = nowhere)]
async fn go() {}

fn main() {}
