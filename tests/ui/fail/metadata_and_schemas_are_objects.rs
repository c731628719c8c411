use tool_runtime::prelude::*;

use serde_json::json;

/// Search.
#[tool(meta = 5, input_schema = r#"{"type": "object"}"#)]
async fn search() {}

/// Find.
#[tool(meta = json!([1]), input_schema = json!("object"))]
async fn find() {}

fn main() {}
