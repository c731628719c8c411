use tool_runtime::prelude::*;

///
#[tool]
async fn ping() {}

#[tool(description = " ")]
async fn pong() {}

fn main() {}
