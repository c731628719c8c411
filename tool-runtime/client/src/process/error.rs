//! Why a child was not started.

use std::io;
use std::path::PathBuf;
use tool_runtime_config::seam::LookupError;

/// Why a child was not started, and what to do about it. Holds no values of the environment but
/// for paths.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpawnError {
    /// The program was not found.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The working directory is missing, or is none.
    #[error("the working directory `{}` is not a directory: create it or correct `cwd`", cwd.display())]
    NoDirectory {
        /// As the configuration has it.
        cwd: PathBuf,
    },
    /// A name that no variable can have.
    #[error("`{}` is not a name of a variable: it is empty or holds `=` or NUL", name.escape_debug())]
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

fn system_remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => ": the interpreter that its first line names is missing",
        io::ErrorKind::ArgumentListTooLong => ": shorten `args` or `env`",
        io::ErrorKind::InvalidInput => ": `args` and `env` must not hold NUL",
        io::ErrorKind::PermissionDenied => ": see the permissions of it and of `cwd`",
        _ => "",
    }
}
