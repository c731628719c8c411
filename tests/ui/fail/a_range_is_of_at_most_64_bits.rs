use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// How far.
    #[arg(range = 1..=5)]
    _far: i128,
) {
}

fn main() {}
