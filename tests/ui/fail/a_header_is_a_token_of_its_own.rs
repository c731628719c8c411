use tool_runtime::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct More {}

/// Query.
#[tool]
async fn query(
    /// Where.
    #[arg(header = "Region")]
    region: String,
    /// Where else.
    #[arg(header = "region")]
    other: String,
    /// Who.
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
