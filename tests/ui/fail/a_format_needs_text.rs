use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// The limit.
    #[arg(format = "email")]
    _limit: Option<i64>,
) {
}

fn main() {}
