//! `doctor`: checks the servers, and shows problems with their remedies.

mod examine;
mod findings;

use super::{Files, NAME_A_FILE, NAME_A_SERVER, mask_in_log};
#[cfg(feature = "remote")]
use crate::remote;
use crate::{About, exit, print};
use examine::examine;
use findings::{Finding, Findings};
use std::process::ExitCode;
use tool_runtime_config::McpDiagnosisLevel;
use tool_runtime_core::pool::ToolPool;

/// Checks every server, also after an error of another one.
pub(super) async fn doctor(about: &About, pool: &ToolPool, files: &Files, json: bool) -> ExitCode {
    let mut findings = Findings::default();
    let has_hub = examine_hub(pool, &mut findings);
    if !files.is_empty() {
        examine_servers(about, files, &mut findings).await;
    } else if !has_hub {
        print::error(&format!("no file to check; {NAME_A_FILE}"));
        return ExitCode::from(exit::USAGE);
    }
    if json {
        findings.print_json();
    } else {
        findings.print();
    }
    ExitCode::from(if findings.has_errors() { exit::ERROR } else { 0 })
}

/// Checks the hub of remote runners. Returns whether there is one.
#[cfg(feature = "remote")]
fn examine_hub(pool: &ToolPool, findings: &mut Findings) -> bool {
    let Some(url) = remote::hub_of(pool) else { return false };
    let mut is_complete = true;
    for absent in remote::absent_runners(pool) {
        is_complete = false;
        findings.add(Some(&absent.source.to_string()), Finding::error(&absent.reason));
    }
    if is_complete {
        let text = format!("the hub at {url} is connected, and each queue has a runner");
        findings.add(Some("runner:*"), Finding::fine(&text));
    }
    true
}

#[cfg(not(feature = "remote"))]
fn examine_hub(_: &ToolPool, _: &mut Findings) -> bool {
    false
}

async fn examine_servers(about: &About, files: &Files, findings: &mut Findings) {
    let (config, problems) = files.loader().load_with_all_problems();
    mask_in_log(&config);
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
    if let Err(error) = examine(about, &config, files.pins.as_deref(), findings).await {
        findings.add(None, Finding::error(&error.to_string()));
    }
}

#[cfg(all(test, feature = "remote"))]
mod tests {
    use super::*;
    use crate::options::Command;
    use std::net::TcpListener;

    #[tokio::test]
    async fn a_hub_that_is_away_is_wrong() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let pool = ToolPool::builder().allow_empty().build().unwrap();
        let command = Command::Doctor { json: true };
        let connection = remote::Connection::open(&url, false, &pool, &command).await.unwrap();
        let mut findings = Findings::default();
        assert!(examine_hub(&pool, &mut findings) && findings.has_errors_of("runner:*"));
        connection.close().await;
    }

    #[test]
    fn a_program_without_a_hub_has_none_to_examine() {
        let pool = ToolPool::builder().allow_empty().build().unwrap();
        let mut findings = Findings::default();
        assert!(!examine_hub(&pool, &mut findings) && !findings.has_errors());
    }
}
