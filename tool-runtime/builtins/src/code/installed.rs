//! Language servers that are installed.

use super::params::LanguageServer;
use crate::workspace::{Environment, Workspace};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The program of a server.
///
/// # Errors
/// The message for one that is not installed, or that tools may change.
pub(super) fn find_server(
    params: &LanguageServer,
    workspace: &Workspace,
) -> Result<PathBuf, String> {
    let environment = workspace.environment();
    let found = workspace.confinement().find_program(&params.command, environment);
    let install = params.install.as_deref().unwrap_or("install it");
    let program = found.map_err(|missing| missing.message(&params.command, install))?;
    if is_rustup(&program) && !is_component(&program, environment) {
        let (name, file) = (params.command.display(), program.display());
        return Err(format!(
            "`{name}` is missing: `{file}` is rustup, whose toolchains do not have it; {install}"
        ));
    }
    Ok(program)
}

/// Whether a program is a link to `rustup` next to it, which starts the program of a toolchain by its own name.
fn is_rustup(program: &Path) -> bool {
    let file = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    let rustup = program.with_file_name("rustup");
    rustup != program && file(program).is_some_and(|own| file(&rustup) == Some(own))
}

/// Whether a toolchain has the program. True if the directory of rustup is unknown.
fn is_component(program: &Path, environment: &Environment) -> bool {
    let variable = |name: &str| environment.get(OsStr::new(name)).map(PathBuf::from);
    let home = variable("RUSTUP_HOME").or_else(|| Some(variable("HOME")?.join(".rustup")));
    let toolchains = home.and_then(|home| fs::read_dir(home.join("toolchains")).ok());
    let (Some(toolchains), Some(name)) = (toolchains, program.file_name()) else { return true };
    toolchains.flatten().any(|toolchain| toolchain.path().join("bin").join(name).exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// The files of rustup are links to it, whether or not a toolchain has the program.
    #[test]
    fn a_link_to_rustup_is_no_program_unless_a_toolchain_has_it() {
        let directory = tempfile::TempDir::new().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["bin", "project", "rustup/toolchains/stable/bin"] {
            fs::create_dir_all(path(name)).unwrap();
        }
        fs::write(path("bin/rustup"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(path("bin/rustup"), PermissionsExt::from_mode(0o755)).unwrap();
        fs::hard_link(path("bin/rustup"), path("bin/hard-analyzer")).unwrap();
        symlink("rustup", path("bin/rust-analyzer")).unwrap();
        let workspace = Workspace::builder()
            .root(path("project"))
            .environment([("PATH", path("bin")), ("RUSTUP_HOME", path("rustup"))])
            .build()
            .unwrap();
        for name in ["rust-analyzer", "hard-analyzer"] {
            let install = Some(format!("rustup component add {name}"));
            let server = LanguageServer { install, ..LanguageServer::new(name, [], []) };
            let missing = find_server(&server, &workspace).unwrap_err();
            let expected = format!(
                "`{name}` is missing: `{}` is rustup, whose toolchains do not have it; rustup component add {name}",
                path("bin").join(name).display()
            );
            assert_eq!(missing, expected);
            fs::write(path("rustup/toolchains/stable/bin").join(name), "").unwrap();
            assert_eq!(find_server(&server, &workspace).unwrap(), path("bin").join(name));
        }
    }
}
