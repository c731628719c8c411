use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// How far.
    #[arg(range = 0..=1)]
    _share: f64,
) {
}

fn main() {}
