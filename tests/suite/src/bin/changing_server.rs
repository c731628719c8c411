//! A server whose tools change its list of tools.

use std::sync::{Mutex, OnceLock};
use tool_runtime::mcp::McpServer;
use tool_runtime::pool::{Restriction, Source};
use tool_runtime::prelude::*;

static POOL: OnceLock<ToolPool> = OnceLock::new();
static GUARDS: Mutex<Vec<Restriction>> = Mutex::new(Vec::new());

fn pool() -> &'static ToolPool {
    POOL.get().expect("the server runs")
}

/// Restrict the pool to some tools.
#[tool]
async fn restrict_tools(
    /// Patterns of the tools that stay visible.
    to: Vec<String>,
) -> Result<(), ToolError> {
    let guard = pool().restrict(to).map_err(|error| ToolError::user(error.to_string()))?;
    GUARDS.lock().expect("no panic").push(guard);
    Ok(())
}

/// Undo the last restriction.
#[tool]
async fn unrestrict_tools() {
    drop(GUARDS.lock().expect("no panic").pop());
}

/// Add a tool.
#[tool]
async fn add_tool(
    /// Its name.
    name: String,
    /// The answer of the tool.
    answer: String,
) -> Result<(), ToolError> {
    let tool =
        Tool::builder(name, "Answer at once.").handler(move || std::future::ready(answer.clone()));
    let added = pool().add_tools(&Source::owner("grown"), [tool]);
    added.map(drop).map_err(|error| ToolError::user(error.to_string()))
}

/// Remove all added tools.
#[tool]
async fn remove_tools() -> Result<(), ToolError> {
    let removed = pool().set_tools(&Source::owner("grown"), []);
    removed.map(drop).map_err(|error| ToolError::user(error.to_string()))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = POOL.get_or_init(|| ToolPool::builder().linked().build().expect("a pool"));
    McpServer::new(pool.clone(), "changing", "1.0.0").serve_stdio().await?;
    Ok(())
}
