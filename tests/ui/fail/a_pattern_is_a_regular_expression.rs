use tool_runtime::prelude::*;

/// Say hello.
#[tool]
async fn greet(
    /// The name of the person.
    #[arg(pattern = "[a-z")]
    _name: String,
    /// The words of the greeting.
    #[arg(pattern = "(?=a)b")]
    _words: String,
) {
}

fn main() {}
