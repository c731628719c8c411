use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// The destination.
    (_x, _y): (i64, i64),
    /// The speed.
    _: String,
    /// The vehicle.
    ref _by: String,
    /// The time.
    _when @ _: i64,
) {
}

fn main() {}
