//! The client that the official MCP conformance suite expects: a pool and its manager.
//!
//! The suite starts it for each scenario, with the address of a server as its last word. It
//! connects, and calls what the scenario names, or else each tool with made-up arguments.

mod calls;
mod host;

use host::Host;
use std::error::Error;
use std::sync::Arc;
use tool_runtime::{McpManager, McpServerConfig, ToolPool};

/// What the suite calls the scenario that it runs.
const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().ok_or("the last word is the address of a server")?;
    let scenario = std::env::var(SCENARIO)?;
    let pool = ToolPool::builder().build()?;
    let manager = McpManager::builder()
        .server("suite", McpServerConfig::http(url))
        .client("conformance-client", env!("CARGO_PKG_VERSION"))
        .peer(Arc::new(Host))
        .connect(&pool)
        .await?;
    for call in calls::of(&scenario, &pool)? {
        let name = call.name().to_owned();
        let result = pool.call(call).await;
        eprintln!("{name}: {}", result.observation().to_text());
    }
    manager.close().await;
    Ok(())
}
