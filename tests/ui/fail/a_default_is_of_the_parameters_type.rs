use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// The limit.
    #[arg(default = "ten")]
    _limit: i64,
    /// The word.
    #[arg(default = 1)]
    _word: String,
) {
}

fn main() {}
