use tool_runtime::prelude::*;

struct Counter;

/// Count.
#[tool]
async fn count<'a>(_counter: &'a Counter) {}

/// Count.
#[tool]
async fn count_for_ever(_counter: &'static Counter) {}

/// Count.
#[tool]
async fn count_undeclared(_counter: &'a Counter) {}

fn main() {}
