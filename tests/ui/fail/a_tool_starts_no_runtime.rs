use tool_runtime::prelude::*;

/// Go.
#[tool]
#[tokio::main]
async fn go(
    /// How far.
    _far: i64,
) {
    std::future::ready(()).await;
}

fn main() {}
