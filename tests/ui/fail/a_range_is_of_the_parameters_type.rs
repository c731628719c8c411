use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// The share.
    #[arg(range = 0..=1)]
    _share: f64,
) {
}

fn main() {}
