//! An `allow` in generated code would contradict these.

#![forbid(
    unsafe_code,
    private_bounds,
    missing_docs,
    dead_code,
    unused_imports,
    unused_variables,
    unused_mut,
    non_camel_case_types,
    non_snake_case,
    deprecated
)]

use tool_runtime::prelude::*;

/// Repeat text.
#[tool]
pub async fn repeat(
    /// The text.
    text: String,
    /// The number of times.
    #[arg(default = Some(2))]
    times: Option<usize>,
    #[arg(undocumented)] aside: bool,
) -> String {
    if aside { String::new() } else { text.repeat(times.unwrap_or_default()) }
}

#[tool(description = "Do nothing.")]
fn nothing() {}

#[test]
fn compiles_and_runs() {
    let pool = ToolPool::builder().linked().build().unwrap();
    // The expansion of `tokio::test` allows one of the lints.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let json = runtime.block_on(pool.call_json("repeat", r#"{"text":"ab","aside":false}"#));
    assert!(json.contains("abab"), "{json}");
    assert_eq!(pool.tools().len(), 2);
}
