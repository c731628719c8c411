//! The external servers.

use super::Problems;
use crate::config::{Config, Source};
use serde_json::json;
use std::collections::BTreeSet;
use tool_runtime::ToolPool;
use tool_runtime::mcp::{McpConfigLoader, McpManager, McpState};

/// Checks their entries. Returns the names of those that are required.
pub(super) fn check(
    source: &Source,
    config: &Config,
    problems: &mut Problems<'_>,
    warnings: &mut Vec<String>,
) -> BTreeSet<String> {
    let loader = with_servers(source.loader(), source, config);
    let (servers, found) = loader.load_with_all_problems();
    warnings.extend(servers.warnings().iter().map(ToString::to_string));
    for problem in &found {
        match problem.file == source.file {
            true => problems.add(&problem.key, format_args!("{}; {}", problem.text, problem.help)),
            false => problems.add_other(problem),
        }
    }
    let required = servers.servers.into_iter().filter(|(_, server)| server.required);
    required.map(|(name, _)| name).collect()
}

/// Adds the external servers of a configuration to a loader.
pub(crate) fn with_servers(
    loader: McpConfigLoader,
    source: &Source,
    config: &Config,
) -> McpConfigLoader {
    let loader = config.mcp_config.iter().fold(loader, |loader, file| loader.file(file));
    match (&source.file, config.mcp_servers.is_empty()) {
        (Some(file), false) => loader.part_of(file, json!({ "mcpServers": config.mcp_servers })),
        _ => loader,
    }
}

/// The names of the servers of a pool that are not connected, each with the reason.
pub(crate) fn absent(pool: &ToolPool) -> Vec<(String, String)> {
    let servers = McpManager::of_pool(pool).into_iter().flat_map(|manager| manager.status());
    let absent = servers.filter(|server| !server.is_ready() && server.state != McpState::Disabled);
    absent
        .map(|server| {
            let reason = server.state.reason().unwrap_or("it did not answer in time");
            let text = format!("the MCP server `{}` is not connected: {reason}", server.name);
            (server.name, text)
        })
        .collect()
}
