use tool_runtime::prelude::*;

/// Serve.
#[tool]
async fn serve() -> ! {
    std::future::pending().await
}

fn main() {}
