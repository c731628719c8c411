use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// Where to.
    _place: str,
    /// Over what.
    _stops: [String],
    /// By what.
    _by: dyn std::fmt::Display,
) {
}

fn main() {}
