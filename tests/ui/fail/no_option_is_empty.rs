use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// How far.
    #[arg(, default = 1,)]
    _far: i64,
) {
}

fn main() {}
