use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// The limit.
    #[arg(length = 1..=5)]
    _limit: i64,
) {
}

fn main() {}
