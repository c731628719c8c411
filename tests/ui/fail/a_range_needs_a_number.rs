use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// The word to count.
    #[arg(range = 1..=5)]
    _word: String,
) {
}

fn main() {}
