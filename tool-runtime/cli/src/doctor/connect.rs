//! Examines entries, then connects to the servers.

use super::findings::{Finding, Findings, Subject};
use crate::about::About;
use crate::servers::{start, state};
use std::path::Path;
use tool_runtime_client::{McpManagerError, McpServerStatus, McpState};
use tool_runtime_config::{McpConfig, McpDiagnosis};
use tool_runtime_core::pool::{ToolPool, ToolStatus};
use tool_runtime_core::tool::Source;

/// Examines each entry, then connects to each server.
/// `pins` is the file of approved definitions.
///
/// # Errors
/// The file of pins cannot be read.
pub(super) async fn connect(
    about: &About,
    config: &McpConfig,
    pins: Option<&Path>,
    findings: &mut Findings,
) -> Result<(), McpManagerError> {
    let pool = ToolPool::builder().allow_empty().build().expect("an empty pool is allowed");
    let manager = start::once(about, pins).start(&pool)?;
    let is_known = |diagnosis: &McpDiagnosis| {
        let warnings = config.warnings().iter();
        let mut about = warnings.filter(|warning| warning.is_about(&diagnosis.server));
        about.any(|warning| diagnosis.text.ends_with(&warning.text))
    };
    for diagnosis in config.diagnose().into_iter().filter(|diagnosis| !is_known(diagnosis)) {
        findings.add(Subject::Server(diagnosis.server.clone()), diagnosis.into());
    }
    for (name, server) in &config.servers {
        if let Err(error) = manager.add(name, server.clone()).await {
            findings.add(Subject::Server(name.clone()), Finding::error(&error.to_string()));
        }
    }
    start::all(&manager, config).await;
    for status in manager.status() {
        connected(&status, findings);
        left_out(&pool, &status, findings);
    }
    manager.close().await;
    Ok(())
}

/// Findings of the connection.
fn connected(status: &McpServerStatus, findings: &mut Findings) {
    let subject = Subject::Server(status.name.clone());
    if status.state == McpState::Ready {
        let protocol = status.protocol.as_deref().unwrap_or("?");
        let count = status.tools;
        let tools = if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") };
        let text = format!("it is connected, speaks MCP {protocol} and lists {tools}");
        findings.add(subject.clone(), Finding::fine(&text));
    }
    // An error of the entry explains the failure.
    if let Some(reason) =
        state::failure_reason(&status.state).filter(|_| !findings.has_errors_of(&subject))
    {
        findings.add(subject.clone(), Finding::error(&reason));
    }
    for problem in &status.problems {
        findings.add(subject.clone(), Finding::warning(problem));
    }
}

/// Findings of tools that the pool leaves out.
fn left_out(pool: &ToolPool, status: &McpServerStatus, findings: &mut Findings) {
    let source = Source::mcp(&status.name);
    for tool in pool.report().tools.into_iter().filter(|tool| tool.source == source) {
        if let ToolStatus::Quarantined { reason } = tool.status
            && !status.problems.iter().any(|problem| explains(problem, &reason))
        {
            let text = format!("`{}` is left out: {reason}", tool.name);
            findings.add(Subject::Server(status.name.clone()), Finding::warning(&text));
        }
    }
}

/// Whether a problem of the server's list is one of the reasons for which the pool leaves a tool out.
fn explains(problem: &str, reasons: &str) -> bool {
    let reason = problem.split_once(" is left out: ").map_or(problem, |(_, reason)| reason);
    reasons.contains(reason)
}
