use tool_runtime::prelude::*;

mod search {
    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    pub struct Result<T> {
        pub hits: Vec<T>,
    }
}

/// Search.
#[tool]
async fn find() -> search::Result<i64> {
    search::Result { hits: vec![] }
}

fn main() {}
