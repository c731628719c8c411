use tool_runtime::prelude::*;

/// Run commands.
#[tool]
async fn run(
    /// The commands.
    #[arg(match_as = "shell")]
    _commands: Vec<String>,
) {
}

fn main() {}
