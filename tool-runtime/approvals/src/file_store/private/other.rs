//! Files of one user, as far as the directory says so.

use std::fs::{OpenOptions, create_dir_all};
use std::io;
use std::path::Path;

pub(in super::super) fn create(directory: &Path) -> io::Result<()> {
    create_dir_all(directory)
}

pub(in super::super) fn check(_: &Path) -> io::Result<()> {
    Ok(())
}

pub(in super::super) fn check_rights(_: &Path) -> io::Result<()> {
    Ok(())
}

pub(in super::super) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    options
}

pub(in super::super) fn user(_: &Path) -> io::Result<Option<String>> {
    Ok(None)
}
