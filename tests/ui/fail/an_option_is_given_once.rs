use tool_runtime::prelude::*;

/// Say hello.
#[tool(title = "Hello", read_only, title = "Hi")]
async fn greet(
    /// The name of the person.
    #[arg(alias = "who", alias = "whom")]
    #[arg(default = "Ada")]
    #[arg(default)]
    _name: String,
) {
}

fn main() {}
