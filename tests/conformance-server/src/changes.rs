//! Tools that change the lists of the server.

use tool_runtime::Prompt;
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;

/// Add a tool, or remove it again.
#[tool]
fn test_trigger_tool_change(context: &ToolContext) -> Result<&'static str, ToolError> {
    let pool = pool(context)?;
    let is_there = pool.get("test_passing_tool").is_some();
    let tools = (!is_there).then(|| {
        Tool::builder("test_passing_tool", "Answer at once.").handler(|| async { "here" })
    });
    pool.set_tools(&passing(), tools).map_err(ToolError::internal)?;
    Ok(if is_there { "the tool is gone" } else { "the tool is there" })
}

/// Add a prompt, or remove it again.
#[tool]
fn test_trigger_prompt_change(context: &ToolContext) -> Result<&'static str, ToolError> {
    let pool = pool(context)?;
    if pool.remove_prompts(&passing(), ["test_passing_prompt"]).is_ok() {
        return Ok("the prompt is gone");
    }
    let prompt =
        Prompt::builder("test_passing_prompt", "Say hello.").handler(|| async { "Hello!" });
    pool.add_prompts(&passing(), [prompt]).map_err(ToolError::internal)?;
    Ok("the prompt is there")
}

/// The source of the tool that is added and removed.
fn passing() -> Source {
    Source::owner("passing")
}

fn pool(context: &ToolContext) -> Result<ToolPool, ToolError> {
    context.pool().ok_or_else(|| ToolError::user("there is no pool"))
}
