use tool_runtime::prelude::*;

/// Say hello.
#[tool(readonly, idempotant, colour = "red", rename = "hello")]
async fn greet(
    /// The name of the person.
    #[arg(defualt = 1, name = "n", description = "The name of the person.", min = 1)]
    _name: String,
    /// The other people.
    #[arg(open, deny_unknown_fields)]
    _others: Vec<String>,
) {
}

fn main() {}
