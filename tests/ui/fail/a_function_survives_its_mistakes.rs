use tool_runtime::prelude::*;

#[tool(readonly)]
async fn add(
    _a: i64,
    /** Second. */
    _b: i64,
) -> i64 {
    1
}

// Nothing below is an error: neither the function nor its action is swallowed.
fn main() {
    let _future = add(1, 2);
    let action = AddAction { _a: 1, _b: 2 };
    let _pool = ToolPool::builder().tool::<AddAction>().build();
    let _sum = async move { action.run(&ToolContext::default()).await + 1 };
}
