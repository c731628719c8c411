//! `doctor`: what is wrong with the servers, and how to mend it.

mod examine;
mod findings;

use super::{Files, NAME_A_FILE, NAME_A_SERVER};
use crate::{About, exit, print};
use examine::examine;
use findings::{Finding, Findings};
use std::process::ExitCode;
use tool_runtime_config::McpConfigProblem;

/// Checks everything, server by server. What is wrong with one keeps no other from being asked.
pub(super) async fn doctor(about: &About, files: &Files, json: bool) -> ExitCode {
    if files.is_empty() {
        print::error(&format!("there is nothing to check; {NAME_A_FILE}"));
        return ExitCode::from(exit::USAGE);
    }
    let (config, problems) = files.loader().sort_out();
    let mut findings = Findings::default();
    for problem in &problems {
        findings
            .add(problem.server.as_deref(), Finding::error(&located(problem)).help(&problem.help));
    }
    for warning in config.warnings() {
        findings.add(
            warning.server.as_deref(),
            Finding::warning(&located(warning)).help(&warning.help),
        );
    }
    if config.servers.is_empty() && problems.is_empty() {
        findings.add(None, Finding::warning("there are no servers in it").help(NAME_A_SERVER));
    }
    examine(about, &config, &mut findings).await;
    if json {
        findings.print_json();
    } else {
        findings.print();
    }
    ExitCode::from(if findings.has_errors() { exit::ERROR } else { 0 })
}

/// What it is, and where. The help is told apart.
fn located(problem: &McpConfigProblem) -> String {
    let file = problem.file.as_ref().map(|file| format!("{}: ", file.display()));
    let key = Some(&problem.key).filter(|key| !key.is_empty()).map(|key| format!("`{key}`: "));
    format!("{}{}{}", file.unwrap_or_default(), key.unwrap_or_default(), problem.text)
}
