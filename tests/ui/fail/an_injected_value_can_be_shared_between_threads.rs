use tool_runtime::prelude::*;

use std::rc::Rc;

/// Count.
#[tool]
fn count(_counter: &Rc<i64>) {}

fn main() {}
