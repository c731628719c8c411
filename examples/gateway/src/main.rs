//! One MCP server that merges the tools of other servers with its own.
//!
//! It reads `.mcp.json` of the folder it is started in, or the files that `--mcp-config` names:
//!
//! ```text
//! gateway status                                         how the servers are
//! gateway doctor                                         problems of the servers, with remedies
//! gateway --allow 'git.*' --deny 'git.push' serve        all of it as one server, filtered
//! ```

use tool_runtime::prelude::*;

/// Names the server of a tool.
#[tool(read_only)]
async fn origin(
    /// The tool's id, as in `git.log`.
    tool: String,
    context: &ToolContext,
) -> Result<String, ToolError> {
    let pool = context.pool().ok_or("there is no pool")?;
    let report = pool.report();
    let found = report.tools.iter().find(|found| found.name == tool);
    let found = found.ok_or_else(|| ToolError::user(format!("there is no tool `{tool}`")))?;
    Ok(format!("{}, {}", found.source, found.status))
}

tool_runtime::main!(mcp = ".mcp.json");
