//! The registrations of the program with MCP clients.

use super::findings::{Finding, Findings, Subject};
use std::path::Path;
use tokio::process::Command;
use tool_runtime_core::seam::is_secret_name;
use tool_runtime_install::{Registered, is_this_program, registered};

pub(super) fn examine(findings: &mut Findings) {
    let (registrations, problems) = registered();
    for problem in &problems {
        let finding =
            Finding::warning(problem).help("correct the file; its client may not read it either");
        findings.add(Subject::Clients, finding);
    }
    if registrations.is_empty() {
        let finding = Finding::fine("the program is registered with no client");
        findings.add(Subject::Clients, finding.help("`install CLIENT` registers it"));
    }
    for registration in &registrations {
        for finding in registration_findings(registration) {
            findings.add(Subject::Clients, finding);
        }
    }
}

fn registration_findings(registration: &Registered) -> Vec<Finding> {
    let Registered { scope, command, env, is_graphical, .. } = registration;
    let entry = entry(registration);
    let path = Path::new(command);
    let mut findings = Vec::new();
    if path.is_absolute() && !path.exists() {
        let finding = Finding::error(&format!("{entry} starts `{command}`, which does not exist"));
        findings.push(finding.help("run `install` of the program where it is now"));
    } else if !path.is_absolute() && *is_graphical {
        let finding = Finding::error(&format!(
            "{entry} starts `{command}`, which it looks for in the PATH of the desktop"
        ));
        findings.push(finding.help("run `install`: it writes the absolute path"));
    } else if path.is_absolute() && !is_this_program(path) {
        let finding =
            Finding::warning(&format!("{entry} starts `{command}`, another program than this"));
        findings.push(
            finding.help(
                "for this program, `uninstall` that entry, then `install`; or `install --name`",
            ),
        );
    } else if let Some(reason) = not_started(registration) {
        findings.push(Finding::note(&format!("{entry} was not started: {reason}")));
    }
    let secrets = env.iter().filter(|(name, value)| is_secret_name(name) && !is_reference(value));
    for (name, _) in secrets {
        let text = format!("{entry} has the value of {name} in plain text");
        let help = match *scope {
            "project" => {
                "everybody who has the project has it; register for the scope `user`, or write a reference such as `${NAME}` if the client takes one"
            }
            _ => {
                "who reads the file has it; a reference such as `${NAME}` keeps it out, if the client takes one, or let the program read a file"
            }
        };
        findings.push(Finding::warning(&text).help(help));
    }
    findings
}

/// How the entry is named in findings.
fn entry(Registered { name, client, scope, file, .. }: &Registered) -> String {
    format!("`{name}` of {client} ({scope}, {})", file.display())
}

/// Why a registration cannot be started here.
fn not_started(registration: &Registered) -> Option<String> {
    if !is_this_program(Path::new(&registration.command)) {
        return Some(format!("the client looks for `{}` in its PATH", registration.command));
    }
    let (name, _) = registration.env.iter().find(|(_, value)| is_reference(value))?;
    Some(format!("only the client knows the value of {name}"))
}

/// The entries that start this program, with their commands. Those of the user run in `elsewhere`, as clients start them in a
/// folder of their own.
pub(super) fn starts(elsewhere: &Path) -> Vec<(String, Command)> {
    let (registrations, _) = registered();
    let start = |it: &Registered| {
        let mut command = Command::new(&it.command);
        command.args(&it.args).envs(it.env.iter().map(|(name, value)| (name, value)));
        if it.scope == "user" {
            command.current_dir(elsewhere);
        }
        (entry(it), command)
    };
    registrations.iter().filter(|it| not_started(it).is_none()).map(start).collect()
}

/// Whether a value names a variable or an input of the client.
fn is_reference(value: &str) -> bool {
    value.is_empty()
        || value.starts_with('$')
        || value.starts_with("{env:")
        || value.starts_with("{file:")
}
