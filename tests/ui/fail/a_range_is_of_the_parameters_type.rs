use tool_runtime::prelude::*;

const MOST: u64 = 5;

/// Count.
#[tool]
async fn count(
    /// The number.
    #[arg(range = ..=MOST)]
    _number: i64,
) {
}

fn main() {}
