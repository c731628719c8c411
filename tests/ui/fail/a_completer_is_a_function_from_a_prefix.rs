use tool_runtime::prelude::*;

fn numbers(_prefix: String) -> Vec<i64> {
    vec![]
}

/// Review.
#[prompt]
async fn review(
    /// The code.
    #[arg(complete = numbers)]
    _code: String,
) -> String {
    String::new()
}

/// Review again.
#[prompt]
async fn again(
    /// The code.
    #[arg(complete = absent)]
    _code: String,
) -> String {
    String::new()
}

fn main() {}
