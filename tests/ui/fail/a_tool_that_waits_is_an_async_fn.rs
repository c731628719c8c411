use tool_runtime::prelude::*;
use std::pin::Pin;

/// Wait.
#[tool]
fn wait() -> impl Future<Output = i64> {
    async { 1 }
}

/// Wait longer.
#[tool]
fn wait_longer() -> Pin<Box<dyn Future<Output = i64> + Send>> {
    Box::pin(async { 1 })
}

fn main() {}
