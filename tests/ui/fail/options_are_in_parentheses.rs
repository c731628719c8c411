use tool_runtime::prelude::*;

/// Go.
#[tool = "go"]
async fn go() {}

fn main() {}
