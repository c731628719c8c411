//! Looking at servers, and asking them.

use super::super::{start, state};
use super::findings::{Finding, Findings};
use crate::About;
use tool_runtime_client::{McpServerStatus, McpState};
use tool_runtime_config::{McpConfig, McpDiagnosis};
use tool_runtime_core::{Source, ToolPool, ToolStatus};

/// Looks at each server, then asks it.
pub(super) async fn examine(about: &About, config: &McpConfig, findings: &mut Findings) {
    let started = ToolPool::builder().allow_empty().build().map_err(|error| error.to_string());
    let started = started.and_then(|pool| {
        let manager = start::once(about).start(&pool).map_err(|error| error.to_string())?;
        Ok((pool, manager))
    });
    let (pool, manager) = match started {
        Ok(started) => started,
        Err(error) => return findings.add(None, Finding::error(&error)),
    };
    // What was warned of when it was read is told already.
    let is_told = |diagnosis: &McpDiagnosis| {
        let warnings = config.warnings().iter();
        let mut about = warnings.filter(|warning| warning.is_about(&diagnosis.server));
        about.any(|warning| diagnosis.text.ends_with(&warning.text))
    };
    for diagnosis in config.diagnose().into_iter().filter(|diagnosis| !is_told(diagnosis)) {
        findings.add(Some(&diagnosis.server.clone()), diagnosis.into());
    }
    for (name, server) in &config.servers {
        if let Err(error) = manager.add(name, server.clone()).await {
            findings.add(Some(name), Finding::error(&error.to_string()));
        }
    }
    start::all(&manager, config).await;
    for status in manager.status() {
        asked(&status, findings);
        left_out(&pool, &status, findings);
    }
    manager.close().await;
}

/// What the server itself gave.
fn asked(status: &McpServerStatus, findings: &mut Findings) {
    let name = Some(status.name.as_str());
    if status.state == McpState::Ready {
        let protocol = status.protocol.as_deref().unwrap_or("?");
        let count = status.tools;
        let tools = if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") };
        let text = format!("it is connected, speaks MCP {protocol} and lists {tools}");
        findings.add(name, Finding::fine(&text));
    }
    // What is wrong at sight is not said twice.
    if let Some(fault) =
        state::fault(&status.state).filter(|_| !findings.has_errors_of(&status.name))
    {
        findings.add(name, Finding::error(&fault));
    }
    for problem in &status.problems {
        findings.add(name, Finding::warning(problem));
    }
}

/// The tools that the pool keeps out.
fn left_out(pool: &ToolPool, status: &McpServerStatus, findings: &mut Findings) {
    let source = Source::mcp(&status.name);
    for tool in pool.report().tools.into_iter().filter(|tool| tool.source == source) {
        if let ToolStatus::Quarantined { reason } = tool.status
            && !status.problems.iter().any(|problem| is_told(problem, &reason))
        {
            let text = format!("`{}` is left out: {reason}", tool.name);
            findings.add(Some(&status.name), Finding::warning(&text));
        }
    }
}

/// Whether a problem that the server's list has names one of the reasons for which the pool keeps a tool out.
fn is_told(problem: &str, reasons: &str) -> bool {
    let reason = problem.split_once(" is left out: ").map_or(problem, |(_, reason)| reason);
    reasons.contains(reason)
}
