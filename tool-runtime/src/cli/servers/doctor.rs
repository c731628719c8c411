//! `doctor`: what is wrong with the servers, and how to mend it.

use super::{Files, PATIENCE};
use crate::cli::{About, exit, print};
use crate::mcp::{McpConfig, McpDiagnosisLevel, McpManager, McpServerStatus, McpState};
use crate::pool::{Source, ToolPool, ToolStatus};
use std::process::ExitCode;
use tokio::time::timeout;

/// What was found, counted.
#[derive(Default)]
struct Findings {
    faults: usize,
    warnings: usize,
}

impl Findings {
    fn fine(&self, text: &str) {
        print::line(&format!("  ok       {text}"));
    }

    fn warning(&mut self, text: &str) {
        self.warnings += 1;
        print::line(&format!("  warning  {text}"));
    }

    fn fault(&mut self, text: &str) {
        self.faults += 1;
        print::line(&format!("  WRONG    {text}"));
    }

    fn help(text: &str) {
        print::line(&format!("           {text}"));
    }
}

/// Checks everything, server by server.
pub(super) async fn doctor(about: &About, files: &Files) -> ExitCode {
    if files.is_empty() {
        print::error(
            "there is nothing to check; name a file of MCP servers by `--mcp-config FILE`",
        );
        return ExitCode::from(exit::USAGE);
    }
    let mut findings = Findings::default();
    let config = match files.load() {
        Ok(config) => config,
        Err(error) => {
            print::line("configuration");
            for problem in &error.problems {
                findings.fault(&problem.to_string());
            }
            return conclusion(&findings);
        }
    };
    if !config.warnings().is_empty() {
        print::line("configuration");
        for warning in config.warnings() {
            findings.warning(&warning.to_string());
        }
    }
    examine(about, &config, &mut findings).await;
    conclusion(&findings)
}

/// Looks at each server, then asks it.
async fn examine(about: &About, config: &McpConfig, findings: &mut Findings) {
    let pool = match ToolPool::builder().expects_more().build() {
        Ok(pool) => pool,
        Err(error) => return findings.fault(&error.to_string()),
    };
    let builder = McpManager::builder().client(&about.name, &about.version);
    let manager = match builder.config(config.clone()).start(&pool) {
        Ok(manager) => manager,
        Err(error) => return findings.fault(&error.to_string()),
    };
    drop(timeout(PATIENCE, manager.settled()).await);
    let diagnoses = config.diagnose();
    for status in manager.status() {
        print::line(&status.name);
        let before = findings.faults;
        for diagnosis in diagnoses.iter().filter(|found| found.server == status.name) {
            match diagnosis.level {
                McpDiagnosisLevel::Fine => findings.fine(&diagnosis.text),
                McpDiagnosisLevel::Warning => findings.warning(&diagnosis.text),
                McpDiagnosisLevel::Error => findings.fault(&diagnosis.text),
            }
            if let Some(help) = &diagnosis.help {
                Findings::help(help);
            }
        }
        // What is wrong at sight is not said twice.
        if findings.faults == before {
            asked(&status, findings);
        }
        left_out(&pool, &status, findings);
    }
    manager.close().await;
}

/// What the server itself gave.
fn asked(status: &McpServerStatus, findings: &mut Findings) {
    match &status.state {
        McpState::Ready => {
            let protocol = status.protocol.as_deref().unwrap_or("?");
            let count = status.tools;
            let tools = if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") };
            findings.fine(&format!("it is connected, speaks MCP {protocol} and lists {tools}"));
        }
        // That is said already.
        McpState::Disabled => {}
        McpState::Connecting => findings.fault("it did not answer in time"),
        McpState::Retrying { reason, .. } => findings.fault(reason),
        other => findings.fault(&other.to_string()),
    }
    for problem in &status.problems {
        findings.warning(problem);
    }
}

/// The tools that the pool keeps out.
fn left_out(pool: &ToolPool, status: &McpServerStatus, findings: &mut Findings) {
    let source = Source::mcp(&status.name);
    for tool in pool.report().tools.into_iter().filter(|tool| tool.source == source) {
        if let ToolStatus::Quarantined { reason } = tool.status {
            findings.warning(&format!("`{}` is left out: {reason}", tool.name));
        }
    }
}

fn conclusion(findings: &Findings) -> ExitCode {
    match (findings.faults, findings.warnings) {
        (0, 0) => print::line("all is well"),
        (0, 1) => print::line("it works, with 1 warning"),
        (0, warnings) => print::line(&format!("it works, with {warnings} warnings")),
        (1, _) => print::line("1 thing is wrong"),
        (faults, _) => print::line(&format!("{faults} things are wrong")),
    }
    ExitCode::from(if findings.faults == 0 { 0 } else { exit::ERROR })
}
