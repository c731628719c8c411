//! The client that the official MCP conformance suite expects: a pool and its manager.
//!
//! The suite starts it for each scenario, with the address of a server as its last argument. It
//! connects, and makes the calls of the scenario, or else calls each tool with made-up arguments.

mod browser;
mod calls;
mod host;

use host::Host;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime::ToolPool;
use tool_runtime::mcp::{McpAuth, McpManager, McpOAuth, McpServerConfig};

/// Environment variable with the name of the scenario.
const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";
/// URL of the client's metadata that the suite expects.
const METADATA: &str = "https://conformance-test.local/client-metadata.json";
/// The suite runs all scenarios at once, on a machine that may be busy, and has time limits of its own.
const PATIENCE: Duration = Duration::from_secs(600);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().ok_or("the last word is the address of a server")?;
    let scenario = std::env::var(SCENARIO)?;
    let auth = McpAuth::OAuth(oauth(&scenario)?);
    let config = McpServerConfig::http(url).auth(auth).connect_timeout(PATIENCE);
    let pool = ToolPool::builder().build()?;
    let manager = McpManager::builder()
        .server("suite", config)
        .start_timeout(PATIENCE)
        .client("conformance-client", env!("CARGO_PKG_VERSION"))
        .peer(Arc::new(Host))
        .oauth(browser::visited)
        .connect(&pool)
        .await?;
    for call in calls::required(&scenario, &pool)? {
        let name = call.name().to_owned();
        let result = pool.call(call).await;
        eprintln!("{name}: {}", result.observation().to_text());
    }
    manager.close().await;
    Ok(())
}

/// Client credentials that the scenario provides.
fn oauth(scenario: &str) -> Result<McpOAuth, Box<dyn Error>> {
    let context = calls::context()?;
    let text = |key: &str| context[key].as_str().map(Into::into);
    let mut oauth = McpOAuth::default();
    oauth.client_id = text("client_id");
    oauth.client_secret = text("client_secret");
    oauth.client_metadata_url = Some(METADATA.to_owned());
    oauth.client_credentials = scenario.starts_with("auth/client-credentials");
    Ok(oauth)
}
