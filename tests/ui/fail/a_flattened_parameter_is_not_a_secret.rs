use tool_runtime::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Login {
    /// The password.
    password: String,
}

/// Log in.
#[tool]
async fn log_in(#[arg(flatten, secret)] login: Login) -> usize {
    login.password.len()
}

fn main() {}
