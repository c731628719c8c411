use tool_runtime::prelude::*;

/// A clock.
#[toolset]
struct Clock;

/// Tell the time.
#[toolset]
fn time() {}

/// The time.
#[toolset]
const TIME: i64 = 0;

fn main() {}
