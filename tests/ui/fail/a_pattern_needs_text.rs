use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// The words to count.
    #[arg(pattern = "a+")]
    _words: Vec<String>,
) {
}

fn main() {}
