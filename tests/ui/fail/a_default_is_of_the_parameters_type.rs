use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// How far.
    #[arg(default = "ten")]
    _limit: i64,
    /// What.
    #[arg(default = 1)]
    _word: String,
) {
}

fn main() {}
