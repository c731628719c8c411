use tool_runtime::prelude::*;

/// Search.
#[tool]
async fn search(
    /// What to look for.
    #[arg(length = 1..=3, example = "rust")]
    _query: String,
    /// How many.
    #[arg(range = 1..=50, example = 0)]
    _limit: i64,
) {
}

fn main() {}
