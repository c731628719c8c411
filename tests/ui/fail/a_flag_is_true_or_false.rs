use tool_runtime::prelude::*;

/// Say hello.
#[tool(read_only = "yes", inline = true, idempotent(true))]
fn greet() {}

fn main() {}
