use tool_runtime::prelude::*;
use std::fmt::Display;
use std::rc::Rc;

/// Go.
#[tool]
async fn go(
    /// Where to.
    _place: Rc<str>,
    /// Over what.
    _stops: Vec<Rc<i64>>,
    /// By what.
    _by: Box<dyn Display>,
    /// From where.
    _from: *const i64,
) {
}

fn main() {}
