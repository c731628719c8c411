use tool_runtime::prelude::*;

type Text = str;

/// Go.
#[tool]
fn go(_place: &Text) {}

fn main() {}
