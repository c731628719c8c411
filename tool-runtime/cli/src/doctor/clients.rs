//! The registrations of the program with MCP clients.

use super::findings::{Finding, Findings, Subject};
use std::path::Path;
use tool_runtime_install::{Registered, is_secret, program_name, registered};

pub(super) fn examine(findings: &mut Findings) {
    let (registrations, problems) = registered(&program_name());
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
    let Registered { client, scope, file, command, env, is_graphical, .. } = registration;
    let entry = format!("{client} ({scope}, {})", file.display());
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
    let secrets = env.iter().filter(|(name, value)| is_secret(name) && !is_reference(value));
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

fn is_this_program(path: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    std::env::current_exe().ok().and_then(|program| real(&program)) == real(path)
}

/// Whether a value names a variable or an input of the client.
fn is_reference(value: &str) -> bool {
    value.is_empty()
        || value.starts_with('$')
        || value.starts_with("{env:")
        || value.starts_with("{file:")
}
