//! Where the program of a command is.

use super::fault::Fault;
use super::text::McpText;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// # Errors
/// If there is no command, or a whole line in its place. Arguments are not in the error.
pub(super) fn check(command: &McpText, cwd: Option<&McpText>) -> Result<(), Fault> {
    let text = command.as_str();
    if text.trim().is_empty() {
        let help = "write what starts the server, as `npx`";
        return Err(Fault::new("the command is empty", help));
    }
    if text.contains('\0') {
        return Err(Fault::new("it holds a NUL character", "remove it"));
    }
    let is_line = text.contains(char::is_whitespace) && find(text, None, cwd).is_err();
    if is_line {
        let words = command.shown().split_whitespace().count();
        let text = format!("it is no program but a command line, of {words} words");
        let help =
            r#"keep the program in `command`, and write what follows as `"args": ["..", ".."]`"#;
        return Err(Fault::new(text, help));
    }
    Ok(())
}

/// Why there is no program.
pub(super) enum Missing {
    /// It is in none of these folders.
    NotIn(Vec<PathBuf>),
    /// There is no such file.
    NoFile,
    /// There is a file that cannot be run.
    NotExecutable,
}

/// The file that a command runs: a path as it is, from the folder that it runs in, or a name in
/// the folders of `PATH`, that of the entry before that of this process.
pub(super) fn find(
    command: &str,
    path: Option<&str>,
    cwd: Option<&McpText>,
) -> Result<PathBuf, Missing> {
    let cwd = cwd.map_or_else(|| Path::new(""), |cwd| Path::new(cwd.as_str()));
    if command.contains('/') || (cfg!(windows) && command.contains('\\')) {
        let file = cwd.join(command);
        return match runnable(&file) {
            Some(file) => Ok(file),
            None if file.exists() => Err(Missing::NotExecutable),
            None => Err(Missing::NoFile),
        };
    }
    let path = path.map(|path| OsStr::new(path).to_owned()).or_else(|| env::var_os("PATH"));
    let folders: Vec<PathBuf> =
        env::split_paths(&path.unwrap_or_default()).filter(|folder| folder != "").collect();
    let mut files = folders.iter().map(|folder| folder.join(command));
    match files.clone().find_map(|file| runnable(&file)) {
        Some(file) => Ok(file),
        None if files.any(|file| file.is_file()) => Err(Missing::NotExecutable),
        None => Err(Missing::NotIn(folders)),
    }
}

#[cfg(unix)]
fn runnable(file: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let data = file.metadata().ok()?;
    (data.is_file() && data.permissions().mode() & 0o111 != 0).then(|| file.to_owned())
}

/// Elsewhere a name may lack its ending.
#[cfg(not(unix))]
fn runnable(file: &Path) -> Option<PathBuf> {
    let endings = ["", "exe", "cmd", "bat", "com"];
    endings.iter().map(|ending| with_ending(file, ending)).find(|file| file.is_file())
}

#[cfg(not(unix))]
fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    if !ending.is_empty() {
        name.push(".");
        name.push(ending);
    }
    PathBuf::from(name)
}
