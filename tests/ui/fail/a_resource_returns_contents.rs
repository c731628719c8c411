use tool_runtime::prelude::*;

/// A number.
#[resource("number://one")]
async fn number() -> Option<i64> {
    Some(1)
}

fn main() {}
