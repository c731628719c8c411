use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// The destination.
    #[arg(default)]
    _to: Place,
) -> Arrival {
}

fn main() {}
