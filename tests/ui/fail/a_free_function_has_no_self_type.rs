use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// The starting point.
    _from: Self,
    /// The destination.
    _to: Vec<Self>,
) {
}

/// Make one.
#[tool]
fn make() -> Option<Self> {
    None
}

struct Clock;

impl Clock {
    /// Make one.
    #[tool]
    fn new() -> Self {
        Self
    }
}

fn main() {}
