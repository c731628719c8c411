use tool_runtime::prelude::*;

/// Go.
#[tool]
#[tokio::main]
async fn go(
    /// The distance.
    _far: i64,
) {
    std::future::ready(()).await;
}

fn main() {}
