use tool_runtime::prelude::*;

/// Count.
#[tool]
async fn count(
    /// The first element.
    #[arg(default)]
    _from: Level,
) {
}

/// A level.
#[derive(serde::Deserialize, schemars::JsonSchema)]
enum Level {
    /// Low.
    Low,
}

fn main() {}
