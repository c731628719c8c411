use tool_runtime::prelude::*;

/// Review.
#[prompt]
async fn review() -> String {
    String::new()
}

/// Review again.
#[prompt(name = "review")]
async fn again() -> String {
    String::new()
}

fn main() {}
