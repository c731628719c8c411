use tool_runtime::prelude::*;

/// Go.
#[tool]
unsafe fn go() {}

/// Go.
#[tool]
extern "C" fn go_on() {}

/// Go.
#[tool]
unsafe extern "C" fn go_far(_stops: ...) {}

fn main() {}
