use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// The starting point.
    _from: String,
    /// The destination.
    #[arg(rename = "_from")]
    _to: String,
    /// The vehicle.
    #[arg(alias("_to", "_from"))]
    _by: String,
    /// The speed.
    #[arg(rename = "")]
    _how: String,
) {
}

fn main() {}
