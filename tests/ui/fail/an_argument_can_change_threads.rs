use tool_runtime::prelude::*;
use std::fmt::Display;
use std::rc::Rc;

/// Go.
#[tool]
async fn go(
    /// The destination.
    _place: Rc<str>,
    /// The stops on the way.
    _stops: Vec<Rc<i64>>,
    /// The vehicle.
    _by: Box<dyn Display>,
    /// The starting point.
    _from: *const i64,
) {
}

fn main() {}
