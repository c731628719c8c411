use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// Where to.
    (_x, _y): (i64, i64),
    /// How.
    _: String,
    /// By what.
    ref _by: String,
    /// When.
    _when @ _: i64,
) {
}

fn main() {}
