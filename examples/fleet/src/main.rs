//! One program that is a runner of three queues, and the server in front of them.

use tool_runtime::prelude::*;

/// Search the web.
#[tool(read_only)]
async fn search(
    /// What to look for.
    query: String,
) -> String {
    format!("found {query}")
}

tool_runtime::main!();
