//! Files only for their owner: a log tells what people did.

use crate::error::LogError;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Rights of users who are neither the owner nor in the group of a file.
#[cfg(unix)]
const OTHERS: u32 = 0o007;

/// Options for writing, which create files that only their owner can read and write.
pub(crate) fn options() -> OpenOptions {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a file, unless it exists. One of root belongs to the owner of its folder then, the service that will write it:
/// SQLite does so with its journals. Only a file that was made here is given away: a symbolic link may lead anywhere.
///
/// # Errors
/// It cannot be created.
pub(crate) fn create(path: &Path) -> io::Result<()> {
    match options().create_new(true).open(path) {
        Ok(file) => give_to_owner_of_folder(&file, path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            options().create(true).truncate(false).open(path).map(drop)
        }
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn give_to_owner_of_folder(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    if file.metadata()?.uid() != 0 {
        return Ok(());
    }
    let folder = std::fs::metadata(folder(path))?;
    match folder.uid() {
        0 => Ok(()),
        owner => match fchown(file, Some(owner), Some(folder.gid())) {
            // A root without this capability keeps it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            given => given,
        },
    }
}

#[cfg(not(unix))]
fn give_to_owner_of_folder(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Warns about a file that was created with more rights. It keeps them: whoever operates the program may have given
/// them to those who read the log.
pub(crate) fn warn_if_exposed(path: &Path) {
    if let Some(text) = exposure(path) {
        tracing::warn!("{text}");
    }
}

#[cfg(unix)]
fn exposure(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path).ok()?.permissions().mode();
    (mode & OTHERS != 0).then(|| {
        let path = path.display();
        format!("other users can use the log `{path}`: take their rights away by `chmod o= {path}`")
    })
}

#[cfg(not(unix))]
fn exposure(_: &Path) -> Option<String> {
    None
}

/// Checks that the file of a log has one name.
///
/// # Errors
/// It has others, by hard links.
#[cfg(unix)]
pub(crate) fn check_single_name(path: &Path) -> Result<(), LogError> {
    use crate::error::LogErrorKind;
    use std::os::unix::fs::MetadataExt as _;
    let names = std::fs::metadata(path).map_err(|error| LogError::io(path, &error))?.nlink();
    if names <= 1 {
        return Ok(());
    }
    let text = format!(
        "`{}` has {names} names (hard links), and SQLite keeps a journal for each, which damages the file: remove the other names, or use symbolic links",
        path.display()
    );
    Err(LogError::new(LogErrorKind::Other, text))
}

#[cfg(not(unix))]
pub(crate) fn check_single_name(_: &Path) -> Result<(), LogError> {
    Ok(())
}

/// The folder of a file.
pub(crate) fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::testing::Folder;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_file_that_everybody_can_use_is_warned_about() {
        let folder = Folder::new();
        let path = folder.file("calls.db");
        options().create(true).open(&path).unwrap();
        for (rights, warns) in [(0o600, false), (0o660, false), (0o604, true), (0o602, true)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(rights)).unwrap();
            let text = exposure(&path).unwrap_or_default();
            let command = format!("`chmod o= {}`", path.display());
            assert_eq!(text.ends_with(&command), warns, "{rights:o}: {text}");
        }
    }
}
