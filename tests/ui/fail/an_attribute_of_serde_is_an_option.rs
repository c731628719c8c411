use tool_runtime::prelude::*;

/// Search notes.
#[tool]
async fn search(
    /// What to look for.
    #[serde(rename = "q", alias = "text")]
    query: String,
    /// The number of results.
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
    #[schemars(description = "The folder.", length(min = 1))] folder: String,
    /// The order.
    #[serde(with = "order")]
    order: String,
) -> String {
    format!("{query}{limit}{folder}{order}")
}

fn main() {}
