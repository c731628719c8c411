use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// Inverted.
    #[arg(length = 50..=1)]
    _inverted: String,
    /// Negative.
    #[arg(length = -1..=1)]
    _negative: String,
) {
}

fn main() {}
