//! Finds programs.

use std::collections::HashSet;
use std::env;
use std::ffi::OsStr;
use std::path::{self, Path, PathBuf};

/// The reason why a program was not found, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// No directory of `PATH` contains the program.
    #[error("there is no program `{program}` in {}: {}", join_paths(looked_in), remedy(program))]
    NotInPath {
        /// The configured path.
        program: String,
        /// The directories, in the order of the search.
        looked_in: Vec<PathBuf>,
    },
    /// The path does not exist.
    #[error("{}: {}", absence(path), path_remedy(path))]
    NoFile {
        /// Absolute.
        path: PathBuf,
    },
    /// The file is not executable.
    #[error(
        "`{path}` is not executable: run `chmod +x` on it, or make its interpreter the command \
         and it the first argument",
        path = path.display()
    )]
    NotExecutable {
        /// Absolute.
        path: PathBuf,
    },
}

/// The absolute path of `program`.
///
/// A name is looked up in the directories of `path`. Empty and relative directories are skipped: a server must not depend
/// on the working directory of its host. A text with a separator is a path, relative to `base`.
pub fn find(program: &str, path: Option<&OsStr>, base: &Path) -> Result<PathBuf, LookupError> {
    if program.contains(path::is_separator) {
        let file = path::absolute(base.join(program)).unwrap_or_else(|_| program.into());
        return pick(program, spellings(&file), || LookupError::NoFile { path: file.clone() });
    }
    let path = path.unwrap_or_default();
    let mut seen = HashSet::new();
    let directories = env::split_paths(path).filter(|directory| directory.is_absolute());
    let directories: Vec<PathBuf> =
        directories.filter(|directory| seen.insert(directory.clone())).collect();
    let files = directories.iter().flat_map(|directory| spellings(&directory.join(program)));
    pick(program, files, || LookupError::NotInPath {
        program: program.to_owned(),
        looked_in: directories.clone(),
    })
}

/// The first executable file. A file without the permission gives the better error.
fn pick(
    program: &str,
    files: impl IntoIterator<Item = PathBuf>,
    none: impl FnOnce() -> LookupError,
) -> Result<PathBuf, LookupError> {
    let mut idle = None;
    for file in files.into_iter().filter(|file| !program.is_empty() && file.is_file()) {
        if is_executable(&file) {
            return Ok(file);
        }
        idle.get_or_insert(file);
    }
    Err(idle.map_or_else(none, |path| LookupError::NotExecutable { path }))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    true
}

/// The possible names of a file.
#[cfg(not(windows))]
fn spellings(file: &Path) -> Vec<PathBuf> {
    vec![file.to_owned()]
}

/// On Windows, extensions in `PATHEXT` may be omitted: `npx` is `npx.cmd`.
#[cfg(windows)]
fn spellings(file: &Path) -> Vec<PathBuf> {
    let extensions = env::var("PATHEXT").unwrap_or_else(|_| ".COM;.EXE;.BAT;.CMD".to_owned());
    let with = |extension: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(extension);
        PathBuf::from(name)
    };
    let mut spellings: Vec<PathBuf> = extensions.split(';').map(with).collect();
    // The name itself is tried only if it has an extension: next to `npx.cmd` there is an `npx` for other shells.
    if file.extension().is_some() {
        spellings.insert(0, file.to_owned());
    }
    spellings
}

/// The path is a directory, not a file.
fn absence(path: &Path) -> String {
    match path.is_dir() {
        true => format!("`{}` is a directory, not a program", path.display()),
        false => format!("there is no file `{}`", path.display()),
    }
}

/// The searched directories, as text.
fn join_paths(directories: &[PathBuf]) -> String {
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_directory_named_twice_is_reported_once() {
        let path = OsStr::new("/nowhere-a:/nowhere-b:/nowhere-a");
        let error = find("no-such-program", Some(path), Path::new("")).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("PATH (/nowhere-a, /nowhere-b):"), "{text}");
    }
}
