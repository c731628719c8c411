//! The PATH of clients that the desktop starts, which lacks the folders that a shell adds.

use super::findings::{Finding, Findings, Subject};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use tool_runtime_config::seam::find_program;
use tool_runtime_config::{McpConfig, McpTransportConfig, StdioConfig};
use tool_runtime_install::registered;

/// The folders that each desktop has.
const FOLDERS: &[&str] = match cfg!(target_os = "macos") {
    true => &["/usr/bin", "/bin", "/usr/sbin", "/sbin"],
    false => &["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"],
};

/// Checks the commands of external servers, if a client that the desktop starts will start them by this program.
pub(super) fn examine(config: &McpConfig, findings: &mut Findings) {
    let (registrations, _) = registered();
    let of_desktop = registrations.iter().find(|it| it.is_graphical && !has_path(&it.env));
    let Some(client) = of_desktop.filter(|_| cfg!(unix)).map(|it| it.client) else { return };
    for (name, server) in config.servers.iter().filter(|(_, server)| server.enabled) {
        let McpTransportConfig::Stdio(stdio) = &server.transport else { continue };
        if let Some(folder) = own_folder(stdio) {
            let text = format!(
                "`{}` is in {}, which is not in the PATH of {client}, as the desktop starts it",
                stdio.command.redacted(),
                folder.display()
            );
            let help =
                "write its whole path in `command`, or register by `install CLIENT --env PATH`";
            findings.add(Subject::Server(name.clone()), Finding::warning(&text).help(help));
        }
    }
}

fn has_path(env: &[(String, String)]) -> bool {
    env.iter().any(|(name, _)| name == "PATH")
}

/// The folder in which the shell finds the command, if a desktop does not have it.
fn own_folder(stdio: &StdioConfig) -> Option<PathBuf> {
    let command = Path::new(stdio.command.as_str());
    if command.components().count() != 1 || stdio.env.keys().any(|name| name.as_str() == "PATH") {
        return None;
    }
    let find = |path: &OsStr| find_program(stdio.command.as_str(), Some(path), Path::new("")).ok();
    let file = find(&std::env::var_os("PATH")?)?;
    match find(&std::env::join_paths(FOLDERS).ok()?) {
        Some(_) => None,
        None => file.parent().map(Path::to_owned),
    }
}
