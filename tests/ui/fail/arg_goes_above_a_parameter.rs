use tool_runtime::prelude::*;

/// Say hello.
#[tool]
#[arg(secret)]
async fn greet(
    /// Whom to greet.
    #[serde(default)]
    _name: String,
    #[arg(secret)] _context: &ToolContext,
) {
}

fn main() {}
