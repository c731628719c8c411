use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// The limit.
    #[arg(default = 0, range = 1..=50)]
    _limit: i64,
    /// The word.
    #[arg(default = "", length = 1..=20)]
    _word: String,
) {
}

fn main() {}
