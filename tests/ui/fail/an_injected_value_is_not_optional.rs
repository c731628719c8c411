use tool_runtime::prelude::*;

struct Db;

/// Go.
#[tool]
async fn go(_context: Option<&ToolContext>, _db: Option<&Db>) {}

fn main() {}
