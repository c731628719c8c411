//! Writing one file: whole or not at all.

use super::dir_entry::{DirEntry, describe};
use super::lock;
use super::snapshot::{Snapshot, Stamp};
use cap_std::fs::{File, OpenOptions, Permissions};
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use tool_runtime::ToolError;

/// New bytes next to the file that they are to replace. Dropping it removes them.
pub(super) struct Staged<'p> {
    entry: &'p DirEntry,
    name: OsString,
    bytes: &'p [u8],
    /// The file that is replaced; `None` if it is new.
    before: Option<&'p Snapshot>,
    permissions: Option<&'p Permissions>,
    is_published: bool,
}

impl<'p> Staged<'p> {
    /// Writes the bytes to a temporary file in the same directory. A new file gets the given permissions, others keep
    /// their own.
    ///
    /// # Errors
    /// The directory cannot be written, or the disk is full.
    pub(super) fn write(
        entry: &'p DirEntry,
        bytes: &'p [u8],
        before: Option<&'p Snapshot>,
        permissions: Option<&'p Permissions>,
    ) -> Result<Self, ToolError> {
        let permissions = before.map(|before| &before.permissions).or(permissions);
        let (name, file) = temporary(entry, permissions.is_some())
            .map_err(|error| describe(&entry.display_path, &error))?;
        let staged = Self { entry, name, bytes, before, permissions, is_published: false };
        staged.fill(file).map_err(|error| describe(&entry.display_path, &error))?;
        Ok(staged)
    }

    fn fill(&self, mut file: File) -> io::Result<()> {
        file.write_all(self.bytes)?;
        if let Some(permissions) = self.permissions {
            file.set_permissions(permissions.clone())?;
        }
        file.sync_all()
    }

    /// Puts the bytes in place.
    ///
    /// # Errors
    /// The file is not the one that was read any more, or cannot be written.
    pub(super) fn publish(mut self) -> Result<(), ToolError> {
        let display_path = &self.entry.display_path;
        let current = self.before.map(|_| Snapshot::read(self.entry)).transpose()?;
        if let (Some(before), Some(current)) = (self.before, &current)
            && before.bytes != current.bytes
        {
            return Err(changed(display_path));
        }
        let done = match &current {
            None => self.rename_new(),
            Some(current) => self.replace(current),
        };
        match done {
            Ok(is_moved) => self.is_published = is_moved,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(changed(display_path));
            }
            Err(error) => return Err(describe(display_path, &error)),
        }
        Ok(())
    }

    fn rename_new(&self) -> io::Result<bool> {
        let DirEntry { parent, name, .. } = self.entry;
        rename_no_replace(parent, &self.name, parent, name)?;
        Ok(true)
    }

    /// Whether the temporary file was used up.
    fn replace(&self, current: &Snapshot) -> io::Result<bool> {
        let DirEntry { parent, name, .. } = self.entry;
        let staged = Stamp::from_metadata(&parent.symlink_metadata(&self.name)?);
        if current.stamp.links > 1
            || !current.stamp.has_owner_of(&staged)
            || has_attributes(&parent.open(name)?)
        {
            // All names keep meaning the same file. The temporary file has the new bytes until they are written.
            self.write_in_place(current)?;
            return Ok(false);
        }
        parent.rename(&self.name, parent, name)?;
        Ok(true)
    }

    fn write_in_place(&self, before: &Snapshot) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true);
        let file = self.entry.parent.open_with(&self.entry.name, options)?;
        let stamp = Stamp::from_metadata(&file.metadata()?);
        // Other processes reach the file by its names in other directories.
        let mut file = file.into_std();
        lock::acquire(&file, None)?;
        // A link may have replaced the file.
        if stamp != before.stamp || !has_bytes(&mut file, &before.bytes)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let written = overwrite(&mut file, self.bytes);
        if written.is_err() {
            overwrite(&mut file, &before.bytes)?;
        }
        written
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.is_published {
            let _ = self.entry.parent.remove_file(&self.name);
        }
    }
}

/// Whether the file has an access control list, or attributes of the user, which a new file would lack.
#[cfg(target_os = "linux")]
fn has_attributes(file: &File) -> bool {
    let mut names = vec![0; 64 << 10];
    let Ok(length) = rustix::fs::flistxattr(file, &mut names[..]) else { return false };
    names[..length].split(|byte| *byte == 0).any(|name| {
        name.starts_with(b"user.")
            || name == b"system.posix_acl_access"
            || name == b"security.capability"
    })
}

#[cfg(not(target_os = "linux"))]
fn has_attributes(_: &File) -> bool {
    false
}

fn has_bytes(file: &mut std::fs::File, bytes: &[u8]) -> io::Result<bool> {
    let mut found = Vec::with_capacity(bytes.len());
    file.take(bytes.len() as u64 + 1).read_to_end(&mut found)?;
    Ok(found == bytes)
}

fn overwrite(file: &mut std::fs::File, bytes: &[u8]) -> io::Result<()> {
    io::Seek::rewind(file)?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

/// The error for a file that others changed.
pub(super) fn changed(display_path: &str) -> ToolError {
    ToolError::user(format!(
        "`{display_path}` was changed meanwhile; read it again, then repeat the edit"
    ))
}

/// Creates a file whose name is not used. Bytes of an existing file are for its owner until it has the permissions of
/// that.
fn temporary(entry: &DirEntry, is_private: bool) -> io::Result<(OsString, File)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // Not derived from the name, which may have the greatest length.
        let name = OsString::from(format!(".edit-{}-{number}.tmp", std::process::id()));
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, if is_private { 0o600 } else { 0o666 });
        #[cfg(not(unix))]
        let _ = is_private;
        match entry.parent.open_with(&name, options.write(true).create_new(true)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (name, file)),
        }
    }
}

/// Renames, unless the new name is taken.
pub(super) fn rename_no_replace(
    from: &cap_std::fs::Dir,
    old: &OsString,
    to: &cap_std::fs::Dir,
    new: &OsString,
) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(from, old, to, new, RenameFlags::NOREPLACE) {
            // Some file systems lack it.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            result => return Ok(result?),
        }
    }
    if to.symlink_metadata(new).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    from.rename(old, to, new)
}
