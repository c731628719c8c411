use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// Where to.
    #[arg(default)]
    _to: Place,
) -> Arrival {
}

fn main() {}
