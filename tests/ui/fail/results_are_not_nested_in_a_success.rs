use std::collections::BTreeMap;
use tool_runtime::prelude::*;

/// Read all.
#[tool]
async fn read_all() -> Vec<Result<String, String>> {
    vec![]
}

/// Read by name.
#[tool]
async fn read_by_name() -> Result<BTreeMap<String, Result<i64, ToolError>>, ToolError> {
    Ok(BTreeMap::new())
}

fn main() {}
