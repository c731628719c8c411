//! What an operator is told before a command runs: which servers are not there, which patterns
//! pick nothing.

use super::state;
use crate::cli::options::Command;
use crate::cli::print;
use crate::mcp::{McpConfig, McpServerStatus, McpState};
use crate::pool::ToolPool;

pub(super) fn before(
    command: &Command,
    pool: &ToolPool,
    config: &McpConfig,
    statuses: &[McpServerStatus],
) {
    let mut told: Vec<String> = Vec::new();
    if command.is_server() {
        told.extend(statuses.iter().filter_map(late));
    } else {
        told.extend(statuses.iter().filter_map(missing));
    }
    if matches!(command, Command::List { .. }) {
        told.extend(config.warnings().iter().map(ToString::to_string));
        told.extend(statuses.iter().flat_map(problems));
    }
    // What is not there yet may have what they pick; the report tells of them itself.
    let is_complete = statuses.iter().all(|status| state::fault(&status.state).is_none());
    if is_complete && !matches!(command, Command::Report) {
        told.extend(idle(pool));
    }
    for text in told {
        if command.is_server() {
            tracing::warn!("{text}");
        } else {
            print::warning(&text);
        }
    }
}

fn missing(status: &McpServerStatus) -> Option<String> {
    let fault = state::fault(&status.state)?;
    Some(format!("the MCP server `{}` is not connected: {fault}", status.name))
}

/// Of others it is logged why they are not there.
fn late(status: &McpServerStatus) -> Option<String> {
    let is_late = status.state == McpState::Connecting;
    is_late.then(|| {
        format!(
            "the MCP server `{}` is still being connected to; its tools come when it answers",
            status.name
        )
    })
}

fn problems(status: &McpServerStatus) -> impl Iterator<Item = String> {
    status.problems.iter().map(|problem| format!("the MCP server `{}`: {problem}", status.name))
}

/// The patterns that pick none of all tools.
fn idle(pool: &ToolPool) -> impl Iterator<Item = String> {
    let unmatched = pool.report().unmatched;
    unmatched.into_iter().map(|selector| format!("the pattern `{selector}` picks no tool"))
}
