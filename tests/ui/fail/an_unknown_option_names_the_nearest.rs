use tool_runtime::prelude::*;

/// Say hello.
#[tool(readonly, idempotant, colour = "red", rename = "hello")]
async fn greet(
    /// Whom to greet.
    #[arg(defualt = 1, name = "n", description = "Whom to greet.", min = 1)]
    _name: String,
    /// Who else.
    #[arg(open, deny_unknown_fields)]
    _others: Vec<String>,
) {
}

fn main() {}
