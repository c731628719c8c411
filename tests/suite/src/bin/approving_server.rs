//! A server whose tool requires approval: by the user of the client or, with the argument
//! `terminal`, by a person at the terminal.

use std::io::{self, Write as _};
use tool_runtime::ToolPoolBuilder;
use tool_runtime::approvals::AskCaller;
use tool_runtime::cli::TerminalApprover;
use tool_runtime::govern::{Approvers, CallView, Decision, PolicyEngine};
use tool_runtime::mcp::McpServer;
use tool_runtime::prelude::*;

struct AskAlways;

impl PolicyEngine for AskAlways {
    fn decide(&self, _: &CallView<'_>) -> Decision {
        Decision::ask("Remove\u{1b}[2J it?").approved_by(Approvers::everyone())
    }
}

/// Remove a file.
#[tool(register = false)]
async fn remove(
    /// Its path.
    path: String,
) -> String {
    eprintln!("removed {path}");
    format!("removed {path}")
}

fn builder() -> ToolPoolBuilder {
    ToolPool::builder().tool::<RemoveAction>().policy(AskAlways)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if std::env::args().nth(1).as_deref() == Some("terminal") {
        let pool = builder().approver(TerminalApprover::new().piped()).build()?;
        runtime.block_on(async {
            for path in ["a", "b", "c"] {
                let call = ToolCall::json("remove", serde_json::json!({ "path": path }));
                writeln!(io::stdout(), "{}", pool.call(call).await.observation().to_text())?;
            }
            io::Result::Ok(())
        })?;
        return Ok(());
    }
    let pool = builder().approver(AskCaller::new().editable()).build()?;
    Ok(runtime.block_on(McpServer::new(pool, "approving", "1").serve_stdio())?)
}
