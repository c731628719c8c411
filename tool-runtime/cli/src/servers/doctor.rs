//! `doctor`: checks the servers, and shows problems with their remedies.

mod examine;
mod findings;

use super::{Files, NAME_A_FILE, NAME_A_SERVER, mask_in_log};
use crate::{About, exit, print};
use examine::examine;
use findings::{Finding, Findings};
use std::process::ExitCode;
use tool_runtime_config::McpDiagnosisLevel;

/// Checks every server, also after an error of another one.
pub(super) async fn doctor(about: &About, files: &Files, json: bool) -> ExitCode {
    if files.is_empty() {
        print::error(&format!("no file to check; {NAME_A_FILE}"));
        return ExitCode::from(exit::USAGE);
    }
    let (config, problems) = files.loader().load_with_all_problems();
    mask_in_log(&config);
    let mut findings = Findings::default();
    for problem in &problems {
        findings.add_problem(McpDiagnosisLevel::Error, problem);
    }
    for warning in config.warnings() {
        findings.add_problem(McpDiagnosisLevel::Warning, warning);
    }
    if config.servers.is_empty() && problems.is_empty() {
        let mut finding = Finding::warning("the configuration lists no servers");
        finding.help = Some(NAME_A_SERVER.to_owned());
        findings.add(None, finding);
    }
    if let Err(error) = examine(about, (&config, files.pins.as_deref()), &mut findings).await {
        findings.add(None, Finding::error(&error.to_string()));
    }
    if json {
        findings.print_json();
    } else {
        findings.print();
    }
    ExitCode::from(if findings.has_errors() { exit::ERROR } else { 0 })
}
