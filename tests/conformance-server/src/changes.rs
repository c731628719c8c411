//! Tools that change what the server offers.

use tool_runtime::Source;
use tool_runtime::prelude::*;

/// The source of what comes and goes.
fn passing() -> Source {
    Source::owner("passing")
}

/// Add a tool, or remove it again.
#[tool]
fn test_trigger_tool_change(context: &ToolContext) -> Result<&'static str, ToolError> {
    let pool = context.pool().ok_or_else(|| ToolError::user("there is no pool"))?;
    let is_there = pool.get("test_passing_tool").is_some();
    let tools = (!is_there).then(|| {
        Tool::builder("test_passing_tool", "Answer at once.").handler(|| async { "here" })
    });
    pool.set_tools(&passing(), tools).map_err(ToolError::internal)?;
    Ok(if is_there { "the tool is gone" } else { "the tool is there" })
}
