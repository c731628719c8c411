use tool_runtime::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Place {}

/// Copy a file.
#[tool(reads("file:{_from}"), writes("file:{_to}"))]
async fn copy(
    /// The source.
    _from: Place,
    /// The destination.
    _to: String,
) {
}

fn main() {}
