use tool_runtime::prelude::*;

/// A clock.
#[tool]
struct Clock;

/// A time.
#[tool]
const TIME: i64 = 0;

fn main() {}
