use tool_runtime::prelude::*;

struct Counter;

/// Count.
#[tool]
async fn count(_counter: &mut Counter, _context: &mut ToolContext) {}

fn main() {}
