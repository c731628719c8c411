//! External MCP servers.

use super::connect::connect;
use super::findings::{Finding, Findings, Subject};
use crate::about::About;
use crate::servers::{Files, NAME_A_SERVER, mask_in_log};
use tool_runtime_config::McpConfigProblem;

/// Checks every server, also after an error of another one.
pub(super) async fn examine(about: &About, files: &Files, findings: &mut Findings) {
    let (config, problems) = files.loader().load_with_all_problems();
    mask_in_log(&config);
    for problem in &problems {
        findings.add(subject(problem), Finding::of_problem(problem, true));
    }
    for warning in config.warnings() {
        findings.add(subject(warning), Finding::of_problem(warning, false));
    }
    if config.servers.is_empty() && problems.is_empty() {
        let finding = Finding::warning("the configuration lists no servers");
        findings.add(Subject::Configuration, finding.help(NAME_A_SERVER));
    }
    #[cfg(feature = "install")]
    super::desktop_path::examine(&config, findings);
    if let Err(error) = connect(about, &config, files.pins.as_deref(), findings).await {
        findings.add(Subject::Configuration, Finding::error(&error.to_string()));
    }
}

fn subject(problem: &McpConfigProblem) -> Subject {
    problem.server.clone().map_or(Subject::Configuration, Subject::Server)
}
