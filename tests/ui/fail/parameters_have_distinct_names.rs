use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// From where.
    _from: String,
    /// To where.
    #[arg(rename = "_from")]
    _to: String,
    /// By what.
    #[arg(alias("_to", "_from"))]
    _by: String,
    /// How.
    #[arg(rename = "")]
    _how: String,
) {
}

fn main() {}
