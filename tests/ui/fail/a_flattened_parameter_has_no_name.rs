use tool_runtime::prelude::*;

/// Where and what.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Place {
    /// The street.
    _street: String,
}

/// Go.
#[tool]
async fn go(#[arg(flatten, rename = "where")] _place: Place, #[arg(flatten)] _other: Place) {}

fn main() {}
