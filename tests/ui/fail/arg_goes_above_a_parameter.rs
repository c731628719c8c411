use tool_runtime::prelude::*;

/// Say hello.
#[tool]
#[arg(secret)]
async fn greet(
    /// The name of the person.
    #[serde(default)]
    _name: String,
    #[arg(secret)] _context: &ToolContext,
) {
}

fn main() {}
