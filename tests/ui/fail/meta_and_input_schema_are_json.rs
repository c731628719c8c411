use tool_runtime::prelude::*;

struct Words;

/// Go.
#[tool(meta = Words, input_schema = Words)]
async fn go() {}

fn main() {}
