use tool_runtime::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct More {}

/// Query.
#[tool]
async fn query(
    /// The region.
    #[arg(header = "Region")]
    region: String,
    /// Another region.
    #[arg(header = "region")]
    other: String,
    /// The user.
    #[arg(header = "the user")]
    user: String,
    /// A password.
    #[arg(header = "Password", secret)]
    password: String,
    /// The rest.
    #[arg(header = "More", flatten)]
    more: More,
) {
    let _ = (region, other, user, password, more);
}

fn main() {}
