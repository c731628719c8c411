use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(_place: &String, _far: &i64, _fast: &bool) {}

fn main() {}
