//! Files of one user, by their permissions.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Permission of other users to write.
const WRITABLE: u32 = 0o022;

pub(in super::super) fn create(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Checks that the directory is this user's, and that no other one can write to it.
pub(in super::super) fn check(directory: &Path) -> io::Result<()> {
    check_rights(directory)?;
    if directory.metadata()?.uid() == own_id(directory)? {
        return Ok(());
    }
    let directory = directory.display();
    Err(denied(format!(
        "another user owns `{directory}`, and could approve calls; choose another directory"
    )))
}

/// Checks that nobody but its owner can write to the directory.
pub(in super::super) fn check_rights(directory: &Path) -> io::Result<()> {
    if directory.metadata()?.mode() & WRITABLE == 0 {
        return Ok(());
    }
    let directory = directory.display();
    Err(denied(format!(
        "other users may write to `{directory}`, and could approve calls; take their rights away by `chmod 700 {directory}`"
    )))
}

fn denied(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

/// Opens files for writing, created only for this user.
pub(in super::super) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

/// The number of the user who runs this process: that of a file which it creates.
fn own_id(directory: &Path) -> io::Result<u32> {
    let path = directory.join(format!(".{}.tmp", crate::digest::random()));
    let uid = options()
        .create_new(true)
        .open(&path)
        .and_then(|file| file.metadata())
        .map(|metadata| metadata.uid());
    drop(std::fs::remove_file(&path));
    uid
}

/// The user who runs this process.
pub(in super::super) fn user(directory: &Path) -> io::Result<Option<String>> {
    let uid = own_id(directory)?;
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid.to_string()).then(|| name.to_owned())
    });
    Ok(Some(name.unwrap_or_else(|| format!("uid {uid}"))))
}
