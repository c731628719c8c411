//! The repository of the first root, and a directory that stands in for its settings.
//!
//! Git reads the settings of a repository from its common directory (`GIT_COMMON_DIR`), and settings name programs:
//! filters, hooks, file monitors, transports. So git gets a common directory that has the data of the repository behind
//! links, and settings of our own. Nothing that the repository names can run, whatever changes meanwhile.

use crate::confine::private_directory;
use crate::workspace::{Repository, Root, Workspace, read_small};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use tool_runtime::ToolError;

/// The entries of a common directory that git works with, without settings and hooks.
const DATA: &[&str] =
    &["HEAD", "objects", "refs", "packed-refs", "reftable", "logs", "info", "shallow", "worktrees"];

/// The settings that say how the data is stored. Their values are words.
pub(super) const FORMAT: &str = r"^(core\.(repositoryformatversion|filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol)|extensions\.(objectformat|refstorage|compatobjectformat))$";

/// The repository of the first root, whose files are all in the workspace.
///
/// # Errors
/// There is none, or it has files outside the roots: a worktree would make them readable.
pub(super) fn find(workspace: &Workspace) -> Result<Repository, ToolError> {
    let root = workspace.roots()[0].canonical_path();
    let Some(top) = root.ancestors().find(|path| path.join(".git").symlink_metadata().is_ok())
    else {
        return Err(ToolError::user(format!(
            "there is no repository of git in `{}`; run `git init` there",
            root.display()
        )));
    };
    if top != root {
        return Err(ToolError::user(format!(
            "the repository begins at `{}`, outside the workspace: a worktree would show files that tools must not read; the operator may make it the first root",
            top.display()
        )));
    }
    let found = Repository::at(top).map_err(|error| {
        let entry = top.join(".git");
        ToolError::user(format!("`{}` is not a repository of git: {error}", entry.display()))
    })?;
    for directory in [&found.git_dir, &found.common] {
        check_inside(workspace, directory)?;
    }
    for name in DATA {
        let entry = found.common.join(name);
        if entry.symlink_metadata().is_ok() {
            check_inside(workspace, &entry)?;
        }
    }
    // Objects of other repositories.
    let objects = found.common.join("objects");
    let alternates = read_small(&objects.join("info/alternates")).unwrap_or_default();
    for path in alternates.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        check_inside(workspace, &objects.join(path))?;
    }
    Ok(found)
}

fn check_inside(workspace: &Workspace, path: &Path) -> Result<(), ToolError> {
    let real = path.canonicalize();
    let is_inside =
        |root: &Arc<Root>| real.as_ref().is_ok_and(|real| real.starts_with(root.canonical_path()));
    if workspace.roots().iter().any(is_inside) {
        return Ok(());
    }
    Err(ToolError::user(format!(
        "a part of the repository is in `{}`, outside the workspace; the operator may add it as a root",
        real.as_deref().unwrap_or(path).display()
    )))
}

/// A directory that stands in for the common one, with these settings, which `git config --null` has listed. All is
/// created through its handle: commands may replace it by another directory.
pub(super) fn stand_in(repository: &Repository, settings: &[u8]) -> io::Result<TempDir> {
    let common = &repository.common;
    // Git would create it behind the link.
    fs::create_dir_all(common.join("worktrees"))?;
    let mut builder = tempfile::Builder::new();
    builder.prefix("git-");
    let directory = match private_directory("git") {
        Some(private) => builder.tempdir_in(private)?,
        None => builder.tempdir()?,
    };
    let dir = Dir::open_ambient_dir(directory.path(), ambient_authority())?;
    for name in DATA {
        let original = common.join(name);
        if original.exists() {
            dir.symlink_contents(original, name)?;
        }
    }
    let mut options = cap_std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = dir.open_with("config", &options)?;
    io::Write::write_all(&mut file, format_of(settings).as_bytes())?;
    Ok(directory)
}

/// A file of settings with those that say how the data is stored. A value that is not a word is left out.
fn format_of(settings: &[u8]) -> String {
    let mut text = "[core]\n\tbare = false\n".to_owned();
    for setting in String::from_utf8_lossy(settings).split('\0') {
        let Some((key, value)) = setting.split_once('\n') else { continue };
        let is_word = value.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if let Some((section, name)) = key.split_once('.').filter(|_| is_word) {
            // Writing to a `String` does not fail.
            let _ = writeln!(text, "[{section}]\n\t{name} = {value}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::format_of;

    #[test]
    fn values_that_are_not_words_are_left_out() {
        let listed =
            b"core.filemode\ntrue\0core.eol\nlf\n[filter \"x\"]\0extensions.objectformat\nsha256\0";
        let text = format_of(listed);
        assert_eq!(
            text,
            "[core]\n\tbare = false\n[core]\n\tfilemode = true\n[extensions]\n\tobjectformat = sha256\n"
        );
    }
}
