use tool_runtime::prelude::*;

/// Search.
#[tool]
async fn search(
    /// The text to search for.
    #[arg(length = 1..=3, example = "rust")]
    _query: String,
    /// The maximum number of results.
    #[arg(range = 1..=50, example = 0)]
    _limit: i64,
) {
}

fn main() {}
