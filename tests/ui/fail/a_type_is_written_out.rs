use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// The starting point.
    _from: _,
    /// The destination.
    _to: Vec<_>,
) {
}

/// Make one.
#[tool]
fn make() -> Option<_> {
    Some(1)
}

fn main() {}
