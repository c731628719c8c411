use tool_runtime::prelude::*;

/// Add.
#[tool]
async fn add(
    /// First.
    _a: i64,
    _names: &str,
) -> i64 {
    1
}

// Nothing below is an error: neither the function nor its action is swallowed.
fn main() {
    let _future = add(1, "");
    let _pool = ToolPool::builder().tool::<AddAction>().build();
}
