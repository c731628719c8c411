use tool_runtime::prelude::*;

/// Go.
#[tool(visualize = show)]
async fn go() {}

fn show(_: i64) -> String {
    String::new()
}

fn main() {}
