use tool_runtime::prelude::*;

struct Lost;

/// Go.
#[tool]
async fn go() -> Result<String, Lost> {
    Err(Lost)
}

fn main() {}
