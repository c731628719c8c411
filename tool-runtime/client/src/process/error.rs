//! Errors of starting a child.

use std::io;
use std::path::PathBuf;
use tool_runtime_config::seam::LookupError;

/// The reason why a child was not started, with a remedy. Messages contain no values of environment
/// variables except paths.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpawnError {
    /// The program was not found.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The working directory is missing or is not a directory.
    #[error("the working directory `{}` is not a directory: create it or correct `cwd`", cwd.display())]
    NoDirectory {
        /// The configured value.
        cwd: PathBuf,
    },
    /// A variable name is invalid.
    #[error("`{}` is not a valid variable name: it is empty or contains `=` or NUL", name.escape_debug())]
    Variable {
        /// The configured value.
        name: String,
    },
    /// The system cannot start the program.
    #[error("`{program}` cannot be started: {source}{}", system_remedy(source))]
    System {
        /// The configured value.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
}

fn system_remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => ": the interpreter of its `#!` line is missing",
        io::ErrorKind::ArgumentListTooLong => ": shorten `args` or `env`",
        io::ErrorKind::InvalidInput => ": `args` and `env` must not contain NUL",
        io::ErrorKind::PermissionDenied => ": check the permissions of the program and of `cwd`",
        _ => "",
    }
}
