use tool_runtime::prelude::*;

/// Say hello.
#[tool(name = "say hello")]
async fn greet() {}

/// Say hello.
#[tool(name = "")]
async fn greet_nobody() {}

/// Say hello.
#[tool]
async fn begrüße() {}

fn main() {}
