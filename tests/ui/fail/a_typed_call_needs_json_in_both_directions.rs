use tool_runtime::prelude::*;

/// A value that is only read.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Query {
    text: String,
}

/// A value that is only written.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Page {
    text: String,
}

/// Search. A call by its name needs no more.
#[tool]
async fn search(
    /// The query.
    query: Query,
) -> i64 {
    query.text.len() as i64
}

/// Fetch.
#[tool]
async fn fetch(
    /// The address.
    url: String,
) -> Result<Page, ToolError> {
    Ok(Page { text: url })
}

async fn typed(pool: &ToolPool, query: Query) {
    let _ = SearchAction { query }.call(pool).await;
    let _ = FetchAction { url: String::new() }.call(pool).await;
}

fn main() {}
