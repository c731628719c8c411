use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// How far.
    #[arg(example = "ten")]
    _limit: i64,
) {
}

fn main() {}
