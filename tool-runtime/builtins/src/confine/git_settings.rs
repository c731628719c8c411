//! What names programs in a repository: its settings and hooks, and the files that name the directory of these.
//!
//! A file that does not exist cannot be mounted on, and a command could create it. So an empty one is created, and one
//! that names the directory itself: git takes both as if they were not there.

use super::bubblewrap::Mounts;
use crate::workspace::Repository;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

/// Makes the settings of git in a root read-only, and keeps the repository at its path.
///
/// # Errors
/// A part of the repository is a link, which commands could replace.
pub(super) fn keep(root: &Path, mounts: &mut Mounts) -> io::Result<()> {
    let entry = root.join(".git");
    let Ok(found) = entry.symlink_metadata() else { return Ok(()) };
    if found.is_symlink() {
        return Err(link(&entry));
    }
    if found.is_file() {
        mounts.keep(&entry);
    }
    let Ok(repository) = Repository::at(root) else { return Ok(()) };
    for directory in [&repository.git_dir, &repository.common] {
        keep_directory(directory, *directory == repository.common, mounts)?;
    }
    let worktrees = repository.common.join("worktrees");
    let listed = fs::read_dir(&worktrees).into_iter().flatten().flatten();
    for worktree in listed.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        keep_directory(&worktree.path(), false, mounts)?;
    }
    Ok(())
}

fn keep_directory(directory: &Path, is_common: bool, mounts: &mut Mounts) -> io::Result<()> {
    if !mounts.are_writable(directory) {
        return Ok(());
    }
    // What is mounted cannot be renamed.
    mounts.write(directory);
    if is_common {
        let _ = fs::create_dir(directory.join("hooks"));
        create(&directory.join("commondir"), ".\n");
    }
    create(&directory.join("config.worktree"), "");
    for name in ["hooks", "config", "config.worktree", "commondir", "gitdir"] {
        let settings = directory.join(name);
        if settings.is_symlink() {
            return Err(link(&settings));
        }
        mounts.keep(&settings);
    }
    Ok(())
}

/// Creates a file that does not exist. Where that fails, commands cannot create it either.
fn create(path: &Path, text: &str) {
    let created = fs::File::options().write(true).create_new(true).open(path);
    let _ = created.and_then(|mut file| file.write_all(text.as_bytes()));
}

fn link(path: &Path) -> io::Error {
    io::Error::other(format!(
        "`{}` is a link, which commands could replace to change settings of git; make it a directory or file, or allow changes by `git_settings`",
        path.display()
    ))
}
