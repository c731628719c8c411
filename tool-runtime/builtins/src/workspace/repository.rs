//! Where the repository of a working tree is, read as data: git is not run.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Bytes of a file that names a directory.
const MAX_NAME: u64 = 8 << 10;

/// The directories of a repository, without symbolic links.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    /// The directory of this working tree.
    pub(crate) git_dir: PathBuf,
    /// The directory that all working trees of the repository share. It has the settings and the hooks.
    pub(crate) common: PathBuf,
}

impl Repository {
    /// The repository of a working tree, which may be a linked one or that of a submodule.
    ///
    /// # Errors
    /// There is none, or it is not one of git.
    pub(crate) fn at(top: &Path) -> io::Result<Self> {
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
}

/// The path that a file names, relative to its directory.
fn named(file: &Path, prefix: &str) -> io::Result<PathBuf> {
    let text = read(file)?;
    let path = text.trim_end_matches('\n').strip_prefix(prefix);
    let path = path.ok_or_else(|| io::Error::other("it names no directory"))?;
    Ok(file.parent().unwrap_or(file).join(path))
}

/// The text of a small file. A pipe of that name does not block.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        let flag = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flag);
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other(format!("`{}` is not a file", path.display())));
    }
    let mut text = String::new();
    file.take(MAX_NAME).read_to_string(&mut text)?;
    Ok(text)
}
