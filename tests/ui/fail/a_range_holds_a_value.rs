use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// Inverted.
    #[arg(range = 50..=1)]
    _inverted: i64,
    /// Empty.
    #[arg(range = 1.5..1.5)]
    _empty: f64,
    /// No range at all.
    #[arg(range = 5)]
    _single: i64,
    /// Neither end.
    #[arg(range = ..)]
    _endless: i64,
) {
}

fn main() {}
