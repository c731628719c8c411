use tool_runtime::prelude::*;

#[tool]
async fn ping() {}

fn main() {}
