//! The registrations of the program with MCP clients.

use super::findings::{Finding, Findings, Subject};
use std::ffi::OsString;
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
    } else {
        findings.push(Finding::fine(&format!("{entry} starts this program")));
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

/// The entries that start this program in another way than `arguments`, with their commands. Those with a variable that
/// only the client knows are left out.
pub(super) fn other_starts(arguments: &[OsString]) -> Vec<(String, Command)> {
    let (registrations, _) = registered();
    let is_other = |it: &&Registered| {
        let is_ours = is_this_program(Path::new(&it.command));
        let is_same =
            it.env.is_empty() && it.args.iter().map(OsString::from).eq(arguments.iter().cloned());
        is_ours && !is_same && !it.env.iter().any(|(_, value)| is_reference(value))
    };
    let start = |it: &Registered| {
        let mut command = Command::new(&it.command);
        command.args(&it.args).envs(it.env.iter().map(|(name, value)| (name, value)));
        (entry(it), command)
    };
    registrations.iter().filter(is_other).map(start).collect()
}

/// Whether a value names a variable or an input of the client.
fn is_reference(value: &str) -> bool {
    value.is_empty()
        || value.starts_with('$')
        || value.starts_with("{env:")
        || value.starts_with("{file:")
}
