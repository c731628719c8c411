use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// The destination.
    #[cfg(windows)]
    _drive: char,
    /// The vehicle.
    #[cfg_attr(windows, allow(unused))]
    _by: String,
) {
}

fn main() {}
