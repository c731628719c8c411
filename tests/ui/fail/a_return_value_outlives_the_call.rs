use tool_runtime::prelude::*;

struct Names(Vec<String>);

/// Name one.
#[tool]
async fn one(names: &Names) -> &str {
    &names.0[0]
}

/// Name all.
#[tool]
async fn all(names: &Names) -> Vec<&str> {
    names.0.iter().map(String::as_str).collect()
}

fn main() {}
