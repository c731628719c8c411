use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// The distance.
    #[arg(range = -1..=1)]
    _far: u8,
    /// How near.
    #[arg(range = -5..)]
    _near: Option<usize>,
) {
}

fn main() {}
