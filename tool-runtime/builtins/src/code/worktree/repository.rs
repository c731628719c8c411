//! The repository of the first root, and a directory that stands in for its settings.
//!
//! Git reads the settings of a repository from its common directory (`GIT_COMMON_DIR`), and settings name programs:
//! filters, hooks, file monitors, transports. So git gets a common directory that has the data of the repository behind
//! links, and settings of our own. Nothing that the repository names can run, whatever changes meanwhile.

use crate::workspace::{Root, Workspace};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tool_runtime::ToolError;

/// The entries of a common directory that git works with, without settings and hooks.
const DATA: &[&str] =
    &["HEAD", "objects", "refs", "packed-refs", "reftable", "logs", "info", "shallow", "worktrees"];

/// The settings that say how the data is stored. Their values are words.
pub(super) const FORMAT: &str = r"^(core\.(repositoryformatversion|filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol)|extensions\.(objectformat|refstorage|compatobjectformat))$";

/// A repository whose files are all in the workspace.
pub(super) struct Repository {
    /// The directory of the working tree.
    pub(super) git_dir: PathBuf,
    /// The directory that all worktrees share.
    pub(super) common: PathBuf,
}

impl Repository {
    /// The repository of the first root.
    ///
    /// # Errors
    /// There is none, or it has files outside of the roots: a worktree would make them readable.
    pub(super) fn of(workspace: &Workspace) -> Result<Self, ToolError> {
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
                "the repository begins at `{}`, outside of the workspace: a worktree would show files that tools must not read; the operator may make it the first root",
                top.display()
            )));
        }
        let found = Self::at(top).map_err(|error| {
            ToolError::user(format!(
                "`{}` is not a repository of git: {error}",
                top.join(".git").display()
            ))
        })?;
        for directory in [&found.git_dir, &found.common] {
            let is_inside = |root: &Arc<Root>| directory.starts_with(root.canonical_path());
            if !workspace.roots().iter().any(is_inside) {
                return Err(ToolError::user(format!(
                    "the repository of `{}` is in `{}`, outside of the workspace; the operator may add it as a root",
                    top.display(),
                    directory.display()
                )));
            }
        }
        Ok(found)
    }

    /// The repository of a working tree, which may be a linked one or that of a submodule.
    fn at(top: &Path) -> io::Result<Self> {
        let entry = top.join(".git");
        let git_dir = match entry.metadata()?.is_dir() {
            true => entry,
            false => named(&entry, "gitdir: ")?,
        };
        let git_dir = git_dir.canonicalize()?;
        let common = match git_dir.join("commondir") {
            file if file.exists() => named(&file, "")?.canonicalize()?,
            _ => git_dir.clone(),
        };
        Ok(Self { git_dir, common })
    }

    /// A directory that stands in for the common one, with these settings, which `git config --null` has listed.
    pub(super) fn stand_in(&self, settings: &[u8]) -> io::Result<TempDir> {
        // Git would create it behind the link.
        fs::create_dir_all(self.common.join("worktrees"))?;
        let directory = tempfile::Builder::new().prefix("git-").tempdir()?;
        for name in DATA {
            let original = self.common.join(name);
            if original.exists() {
                symlink(original, directory.path().join(name))?;
            }
        }
        fs::write(directory.path().join("config"), format_of(settings))?;
        Ok(directory)
    }
}

/// The path that a file names, relative to its directory.
fn named(file: &Path, prefix: &str) -> io::Result<PathBuf> {
    let text = fs::read_to_string(file)?;
    let path = text.trim_end_matches('\n').strip_prefix(prefix);
    let path = path.ok_or_else(|| io::Error::other("it names no directory"))?;
    Ok(file.parent().unwrap_or(file).join(path))
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
