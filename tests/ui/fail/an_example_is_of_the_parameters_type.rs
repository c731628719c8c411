use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// The limit.
    #[arg(example = "ten")]
    _limit: i64,
) {
}

fn main() {}
