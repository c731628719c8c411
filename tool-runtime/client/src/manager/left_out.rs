//! Servers of a configuration whose entries cannot be used.

use tool_runtime_config::McpConfig;
use tool_runtime_core::{AbsentSource, Source};

/// Their problems, for the pool's report and the log.
pub(super) fn of(config: &McpConfig) -> Vec<AbsentSource> {
    let absent = |problem: &tool_runtime_config::McpConfigProblem| {
        tracing::warn!("an MCP server is left out: {problem}");
        let source = Source::mcp(problem.server.as_deref().unwrap_or_default());
        AbsentSource::new(source, format!("its entry cannot be used: {problem}"))
    };
    config.left_out().iter().map(absent).collect()
}
