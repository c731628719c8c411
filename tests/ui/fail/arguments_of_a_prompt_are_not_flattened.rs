use tool_runtime::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Page {}

/// Review.
#[prompt]
async fn review(#[arg(flatten)] _page: Page) -> String {
    String::new()
}

fn main() {}
