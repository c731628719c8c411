//! `status`: how the servers are.

use crate::cli::{exit, print, table};
use crate::mcp::{McpManager, McpServerStatus, McpState};
use std::process::ExitCode;
use tokio::time::Instant;

/// A table with a row a server.
pub(super) fn show(manager: &McpManager) -> ExitCode {
    let statuses = manager.status();
    let header = ["SERVER", "STATE", "TOOLS", "PROTOCOL", "IS"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(header).chain(statuses.iter().map(row)).collect();
    for line in table::aligned(&rows) {
        print::line(&line);
    }
    for status in &statuses {
        if let Some(reason) = status.state.reason() {
            print::line(&format!("{}: {reason}", status.name));
        }
        for problem in &status.problems {
            print::line(&format!("{}: {problem}", status.name));
        }
    }
    let is_well =
        |status: &McpServerStatus| matches!(status.state, McpState::Ready | McpState::Disabled);
    ExitCode::from(if statuses.iter().all(is_well) { 0 } else { exit::ERROR })
}

fn row(status: &McpServerStatus) -> [String; 5] {
    let dash = || "-".to_owned();
    let tools = if status.is_ready() { status.tools.to_string() } else { dash() };
    let info = status.info.as_ref().map(|info| format!("{} {}", info.name, info.version));
    [
        status.name.clone(),
        state(&status.state),
        tools,
        status.protocol.clone().unwrap_or_else(dash),
        info.unwrap_or_else(dash),
    ]
}

/// In a word: a reason may be long.
fn state(state: &McpState) -> String {
    match state {
        McpState::Retrying { next, .. } => {
            let wait = next.saturating_duration_since(Instant::now()).as_secs();
            if wait == 0 { "retrying now".to_owned() } else { format!("retrying in {wait}s") }
        }
        McpState::NeedsAuth { .. } => "needs auth".to_owned(),
        other => other.to_string(),
    }
}
