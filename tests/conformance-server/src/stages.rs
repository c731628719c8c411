//! Tools that report progress, or write to the client's log.

use std::time::Duration;
use tokio::time::sleep;
use tool_runtime::peer::LogLevel;
use tool_runtime::prelude::*;

/// Duration of one stage of the work.
const STAGE: Duration = Duration::from_millis(50);

/// Work in three stages, and report each.
#[tool(read_only, progress)]
async fn test_tool_with_progress(context: &ToolContext) -> &'static str {
    context.progress(0, 100, "");
    sleep(STAGE).await;
    context.progress(50, 100, "");
    sleep(STAGE).await;
    context.progress(100, 100, "");
    "all stages are done"
}

/// Work in three stages, and log each.
#[tool(read_only)]
async fn test_tool_with_logging(context: &ToolContext) -> &'static str {
    context.log(LogLevel::Info, "Tool execution started");
    sleep(STAGE).await;
    context.log(LogLevel::Info, "Tool processing data");
    sleep(STAGE).await;
    context.log(LogLevel::Info, "Tool execution completed");
    "all stages are logged"
}

/// Write one line to the log.
#[tool(read_only)]
fn test_logging_tool(context: &ToolContext) -> &'static str {
    context.log(LogLevel::Info, "one line");
    "one line is logged"
}

/// Work for longer than the server keeps a stream open.
#[tool(read_only)]
async fn test_reconnection() -> &'static str {
    sleep(Duration::from_millis(1500)).await;
    "the client has come back"
}
