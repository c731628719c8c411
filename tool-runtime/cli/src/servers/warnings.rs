//! Warnings before a command: servers that are not connected, patterns without a match.

use super::state;
use crate::options::Command;
use crate::{print, selectors};
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
    if command.reports_warnings() {
        return Vec::new();
    }
    let warning = if command.is_server() { pending_warning } else { missing };
    let mut warnings: Vec<String> = statuses.iter().filter_map(warning).collect();
    if matches!(command, Command::List(_)) {
        warnings.extend(config.warnings().iter().map(ToString::to_string));
        warnings.extend(statuses.iter().flat_map(problems));
    }
    // The report lists unmatched patterns itself.
    if !matches!(command, Command::Report { .. }) {
        // Those of the command line are reported before, except of a server, which has started by then.
        let reported = if command.is_server() { &[] } else { selectors };
        let is_missing = |status: &McpServerStatus| state::failure_reason(&status.state).is_some();
        warnings.extend(unmatched(pool, reported, statuses.iter().any(is_missing)));
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

/// Warnings about patterns and transforms that pick no tool. They may pick tools of servers that are missing.
fn unmatched(pool: &ToolPool, reported: &[Selector], is_missing: bool) -> Vec<String> {
    let report = pool.report();
    let mut warnings = Vec::new();
    for selector in report.unmatched.iter().filter(|it| !reported.contains(it)) {
        warnings.push(match is_missing {
            true => selectors::unmatched_yet(&selector.to_string()),
            false => format!("the pattern `{selector}` picks no tool"),
        });
    }
    let transforms = report.idle_transforms.iter().filter(|_| !is_missing);
    warnings.extend(transforms.map(|it| format!("the transform of `{it}` picks no tool")));
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::List;
    use std::sync::Arc;
    use tool_runtime_client::McpManager;
    use tool_runtime_command::{CliCommand, CommandArguments, CommandForm};
    use tool_runtime_config::McpServerConfig;

    /// A command that reports warnings itself, or does not.
    struct Check(bool);

    impl CliCommand for Check {
        fn form(&self) -> CommandForm {
            CommandForm::new("check", "Check it")
        }

        fn reports_warnings(&self) -> bool {
            self.0
        }
    }

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
            warnings(
                &Command::Serve(crate::options::Serve::default()),
                &pool,
                &config,
                &statuses,
                &[]
            ),
            ["the MCP server `h` is still being connected to; its tools come when it answers"]
        );
        assert_eq!(
            warnings(&Command::List(List::default()), &pool, &config, &statuses, &[]),
            ["the MCP server `h` is not connected: it did not answer in time"]
        );
    }

    #[tokio::test]
    async fn a_command_that_reports_warnings_itself_has_none_before() {
        let pool = ToolPool::builder().allow_empty().build().unwrap();
        let (config, statuses) = (McpConfig::new(), connecting(&pool).await);
        for reports in [false, true] {
            let command = Command::Added(Arc::new(Check(reports)), CommandArguments::default());
            let found = warnings(&command, &pool, &config, &statuses, &[]);
            assert_eq!(found.is_empty(), reports, "{found:?}");
        }
    }
}
