use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// From where.
    _from: _,
    /// To where.
    _to: Vec<_>,
) {
}

/// Make one.
#[tool]
fn make() -> Option<_> {
    Some(1)
}

fn main() {}
