use tool_runtime::prelude::*;

use std::error::Error;

/// Count.
#[tool]
fn count() -> Result<i64, Box<dyn Error>> {
    Ok(1)
}

fn main() {}
