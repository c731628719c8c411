//! The programs that the tools need.

use super::installed::find_server;
use super::params::CodeParams;
use crate::workspace::Workspace;
use std::path::Path;
use tool_runtime::tool::Requirement;

/// Git, if it is there. Without it the tools are hidden with a reason of their own.
pub(super) fn git(params: &CodeParams, workspace: &Workspace) -> Vec<Requirement> {
    find_program(&params.worktrees.git, workspace).into_iter().collect()
}

/// Each language server.
pub(super) fn language_servers(params: &CodeParams, workspace: &Workspace) -> Vec<Requirement> {
    let servers = params.language_servers.values();
    let requirement = |server: &super::LanguageServer| {
        let name = server.command.display().to_string();
        match find_server(server, workspace) {
            Ok(file) => Requirement::met(name, file.display().to_string()),
            Err(_) => Requirement::absent(name, server.install.as_deref().unwrap_or("install it")),
        }
    };
    servers.map(requirement).collect()
}

fn find_program(program: &Path, workspace: &Workspace) -> Option<Requirement> {
    let found = workspace.confinement().find_program(program, workspace.environment());
    let file = found.ok()?;
    Some(Requirement::met(program.display().to_string(), file.display().to_string()))
}
