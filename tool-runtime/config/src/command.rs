//! Finds the program of a command.

use super::findings::ValueProblem;
use super::lookup::{self, LookupError};
use super::text::McpText;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Validates a command.
///
/// # Errors
/// The command is empty, or is a whole command line. The error does not show arguments.
pub(super) fn check(command: &McpText, cwd: Option<&McpText>) -> Result<(), ValueProblem> {
    let text = command.as_str();
    if text.trim().is_empty() {
        let help = "write the program that starts the server, such as `npx`";
        return Err(ValueProblem::new("the command is empty", help));
    }
    if text.contains('\0') {
        return Err(ValueProblem::new("it contains a NUL character", "remove it"));
    }
    let is_line = text.contains(char::is_whitespace) && find(text, None, cwd).is_err();
    if is_line {
        let words = command.redacted().split_whitespace().count();
        let text = format!("it is not a program but a command line, of {words} words");
        let help =
            r#"keep the program in `command`, and write its arguments as `"args": ["..", ".."]`"#;
        return Err(ValueProblem::new(text, help));
    }
    Ok(())
}

/// The reason why a program was not found.
pub(super) enum Missing {
    /// These directories do not contain the program.
    NotIn(Vec<PathBuf>),
    /// The path is a directory.
    Folder,
    /// The file does not exist.
    NoFile,
    /// There is a file that cannot be run.
    NotExecutable,
}

/// The file of a command: a path, relative to its working directory, or a name in the `PATH` of the entry, or else of this
/// process.
pub(super) fn find(
    command: &str,
    path: Option<&str>,
    cwd: Option<&McpText>,
) -> Result<PathBuf, Missing> {
    let base = cwd.map_or_else(|| Path::new(""), |cwd| Path::new(cwd.as_str()));
    let path = path.map(|path| OsStr::new(path).to_owned()).or_else(|| env::var_os("PATH"));
    lookup::find(command, path.as_deref(), base).map_err(|error| match error {
        LookupError::NotInPath { looked_in, .. } => Missing::NotIn(looked_in),
        LookupError::NoFile { path } if path.is_dir() => Missing::Folder,
        LookupError::NotExecutable { .. } => Missing::NotExecutable,
        _ => Missing::NoFile,
    })
}
