use tool_runtime::prelude::*;

/// Say hello.
#[tool(
    name = hello,
    title,
    tags,
    timeout = 30,
    action = 7,
    visualize = 1,
    meta,
    crate = 7
)]
async fn greet(
    /// The name of the person.
    #[arg(rename = 1, alias(who), pattern = 'a', example, secret = true)]
    _name: String,
    /// Another.
    #[arg]
    _other: String,
) {
}

fn main() {}
