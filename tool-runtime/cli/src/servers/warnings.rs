//! Warnings before a command: servers that are not connected, patterns without a match.

use super::state;
use crate::options::Command;
use crate::print;
use tool_runtime_client::{McpServerStatus, McpState};
use tool_runtime_config::McpConfig;
use tool_runtime_core::pool::{Selector, ToolPool};

/// Prints the warnings of a command, or logs those of a server. `selectors` are those of the command line.
pub(super) fn report(
    command: &Command,
    pool: &ToolPool,
    config: &McpConfig,
    statuses: &[McpServerStatus],
    selectors: &[Selector],
) {
    for text in warnings(command, pool, config, statuses, selectors) {
        if command.is_server() {
            tracing::warn!("{text}");
        } else {
            print::warning(&text);
        }
    }
}

fn warnings(
    command: &Command,
    pool: &ToolPool,
    config: &McpConfig,
    statuses: &[McpServerStatus],
    selectors: &[Selector],
) -> Vec<String> {
    let warning = if command.is_server() { pending_warning } else { missing };
    let mut warnings: Vec<String> = statuses.iter().filter_map(warning).collect();
    if matches!(command, Command::List(_)) {
        warnings.extend(config.warnings().iter().map(ToString::to_string));
        warnings.extend(statuses.iter().flat_map(problems));
    }
    // A pattern may match tools of a missing server. The report lists unmatched patterns itself.
    let is_complete = statuses.iter().all(|status| state::failure_reason(&status.state).is_none());
    if is_complete && !matches!(command, Command::Report { .. }) {
        // Those of the command line are errors, except in a server, which has started by then.
        let errors = if command.is_server() { &[] } else { selectors };
        warnings.extend(unmatched(pool, errors));
    }
    warnings
}

fn missing(status: &McpServerStatus) -> Option<String> {
    let reason = state::failure_reason(&status.state)?;
    Some(format!("the MCP server `{}` is not connected: {reason}", status.name))
}

/// The warning for a pending connection. The manager logs failed ones.
fn pending_warning(status: &McpServerStatus) -> Option<String> {
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

/// Warnings about patterns and transforms that pick no tool.
fn unmatched(pool: &ToolPool, errors: &[Selector]) -> impl Iterator<Item = String> {
    let report = pool.report();
    let patterns = report.unmatched.into_iter().filter(|it| !errors.contains(it));
    let patterns = patterns.map(|it| ("pattern", it));
    let transforms = report.idle_transforms.into_iter().map(|it| ("transform of", it));
    patterns
        .chain(transforms)
        .map(|(kind, selector)| format!("the {kind} `{selector}` picks no tool"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::List;
    use tool_runtime_client::McpManager;
    use tool_runtime_config::McpServerConfig;

    /// A server whose connection is pending.
    async fn connecting(pool: &ToolPool) -> Vec<McpServerStatus> {
        let server = McpServerConfig::stdio("no-such-program-here");
        let manager = McpManager::builder().server("h", server).start(pool).unwrap();
        let statuses = manager.status();
        manager.close().await;
        statuses
    }

    #[tokio::test]
    async fn every_command_reports_a_pending_server() {
        let pool = ToolPool::builder().allow_empty().build().unwrap();
        let (config, statuses) = (McpConfig::new(), connecting(&pool).await);
        assert_eq!(
            warnings(&Command::Serve, &pool, &config, &statuses, &[]),
            ["the MCP server `h` is still being connected to; its tools come when it answers"]
        );
        assert_eq!(
            warnings(&Command::List(List::default()), &pool, &config, &statuses, &[]),
            ["the MCP server `h` is not connected: it did not answer in time"]
        );
    }
}
