use tool_runtime::prelude::*;

/// Name all.
#[tool]
async fn all() -> Vec<&str> {
    vec!["all"]
}

/// Name any.
#[tool]
fn any() -> &dyn std::fmt::Display {
    &1
}

/// Name one.
#[tool]
fn one() -> Option<&'a str> {
    None
}

fn main() {}
