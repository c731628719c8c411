//! Why a child was not started.

use std::io;
use std::path::{Path, PathBuf};

/// Why a child was not started, and what to do about it. Holds no values of the environment but
/// for paths.
#[derive(Debug, thiserror::Error)]
pub(in crate::mcp) enum SpawnError {
    /// A name that no directory of `PATH` holds.
    #[error("there is no program `{program}` in {}: {}", listed(looked_in), remedy(program))]
    NotInPath {
        /// As the configuration has it.
        program: String,
        /// In this order.
        looked_in: Vec<PathBuf>,
    },
    /// A path where nothing is.
    #[error("{}: {}", absence(path), path_remedy(path))]
    NoFile {
        /// Absolute.
        path: PathBuf,
    },
    /// A file without the permission to be executed.
    #[error(
        "`{path}` is not executable: run `chmod +x` on it, or make its interpreter the command \
         and it the first argument",
        path = path.display()
    )]
    NotExecutable {
        /// Absolute.
        path: PathBuf,
    },
    /// The working directory is missing, or is none.
    #[error("the working directory `{}` is no directory: create it or correct `cwd`", cwd.display())]
    NoDirectory {
        /// As the configuration has it.
        cwd: PathBuf,
    },
    /// A name that no variable can have.
    #[error("`{}` is no name of a variable: it is empty or holds `=` or NUL", name.escape_debug())]
    Variable {
        /// As the configuration has it.
        name: String,
    },
    /// The system does not start it.
    #[error("`{program}` cannot be started: {source}{}", system_remedy(source))]
    System {
        /// As the configuration has it.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
}

/// A folder is there, but no file.
fn absence(path: &Path) -> String {
    match path.is_dir() {
        true => format!("`{}` is a folder and no program", path.display()),
        false => format!("there is no file `{}`", path.display()),
    }
}

/// The directories that were looked in.
fn listed(directories: &[PathBuf]) -> String {
    if directories.is_empty() {
        return "PATH, which names no directory".to_owned();
    }
    let names: Vec<_> = directories.iter().map(|name| name.display().to_string()).collect();
    format!("PATH ({})", names.join(", "))
}

fn remedy(program: &str) -> &'static str {
    match program {
        "" => "`command` is empty",
        "npx" | "npm" | "node" => "install Node.js, which brings it, or give its whole path",
        "uvx" | "uv" => "install uv, which brings it, or give its whole path",
        "python" | "python3" | "pip" => "install Python, which brings it, or give its whole path",
        "bun" | "bunx" => "install Bun, which brings it, or give its whole path",
        "docker" => "install Docker, which brings it, or give its whole path",
        _ if program.contains(' ') => "arguments go into `args`, one by one",
        _ => "install it, or give its whole path",
    }
}

fn path_remedy(path: &Path) -> &'static str {
    let text = path.to_string_lossy();
    if text.split(std::path::is_separator).any(|part| part == "~") {
        "only shells know `~`, write `${HOME}`"
    } else if text.contains(' ') {
        "correct `command`; arguments go into `args`, one by one"
    } else {
        "correct `command`"
    }
}

fn system_remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => ": the interpreter that its first line names is missing",
        io::ErrorKind::ArgumentListTooLong => ": shorten `args` or `env`",
        io::ErrorKind::InvalidInput => ": `args` and `env` must not hold NUL",
        io::ErrorKind::PermissionDenied => ": see the permissions of it and of `cwd`",
        _ => "",
    }
}
