use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// The destination.
    _place: str,
    /// The stops on the way.
    _stops: [String],
    /// The vehicle.
    _by: dyn std::fmt::Display,
) {
}

fn main() {}
