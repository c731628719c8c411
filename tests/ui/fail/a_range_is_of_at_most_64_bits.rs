use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// The distance.
    #[arg(range = 1..=5)]
    _far: i128,
) {
}

fn main() {}
