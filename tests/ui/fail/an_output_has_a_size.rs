use tool_runtime::prelude::*;

/// Name one.
#[tool]
async fn one() -> str {
    *"one"
}

/// Name all.
#[tool]
fn all() -> [i64] {
    [1][..]
}

/// Name any.
#[tool]
async fn any() -> dyn std::fmt::Display {
    1
}

fn main() {}
