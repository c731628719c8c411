use tool_runtime::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct More {}

/// Run a command.
#[tool]
async fn run(
    /// The command.
    #[arg(match_as = "bash")]
    _command: String,
    /// The directory.
    #[arg(match_as = "path")]
    _directory: String,
    /// A password.
    #[arg(match_as = "path", secret)]
    _password: String,
    /// The rest.
    #[arg(match_as = "path", flatten)]
    _more: More,
) {
}

/// Explain a command.
#[prompt]
async fn explain(
    /// The command.
    #[arg(match_as = "shell")]
    _command: String,
) -> String {
    String::new()
}

fn main() {}
