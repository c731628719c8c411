use tool_runtime::prelude::*;

/// Say hello.
#[tool]
async fn greet(
    /// Whom to greet.
    #[arg(pattern = "[a-z")]
    _name: String,
    /// In which words.
    #[arg(pattern = "(?=a)b")]
    _words: String,
) {
}

fn main() {}
