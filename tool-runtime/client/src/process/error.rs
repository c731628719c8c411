//! Errors of starting a child.

use std::io;
use std::path::PathBuf;
use tool_runtime_config::seam::LookupError;

/// The reason why a child was not started, and the remedy. Paths are the only values of the environment
/// in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpawnError {
    /// The program was not found.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The working directory is missing or is not a directory.
    #[error("the working directory `{}` is not a directory: create it or correct `cwd`", cwd.display())]
    NoDirectory {
        /// As the configuration has it.
        cwd: PathBuf,
    },
    /// An invalid name of a variable.
    #[error("`{}` is not a name of a variable: it is empty or holds `=` or NUL", name.escape_debug())]
    Variable {
        /// As the configuration has it.
        name: String,
    },
    /// The system refuses to start it.
    #[error("`{program}` cannot be started: {source}{}", system_remedy(source))]
    System {
        /// As the configuration has it.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
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
