use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// How far.
    #[arg(default = 0, range = 1..=50)]
    _limit: i64,
    /// What.
    #[arg(default = "", length = 1..=20)]
    _word: String,
) {
}

fn main() {}
