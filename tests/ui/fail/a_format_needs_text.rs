use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// How far.
    #[arg(format = "email")]
    _limit: Option<i64>,
) {
}

fn main() {}
