use tool_runtime::prelude::*;

use std::rc::Rc;

/// Count.
#[tool]
async fn count() -> i64 {
    let counter = Rc::new(1);
    tokio::task::yield_now().await;
    *counter
}

fn main() {}
