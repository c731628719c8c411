use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// The distance.
    #[arg(, default = 1,)]
    _far: i64,
) {
}

fn main() {}
