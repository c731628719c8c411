//! Writing one file: whole or not at all.
//!
//! A new file is renamed over the old one, so that a killed process leaves the one or the other. Where that is impossible
//! or would lose something of the file, it is written in place, after its old content was saved elsewhere.

use super::dir_entry::{DirEntry, describe};
use super::lock;
use super::saved::save;
use super::snapshot::{Snapshot, Stamp};
use super::staging::{self, Staging};
use cap_std::fs::{File, OpenOptions, Permissions};
use std::ffi::OsStr;
use std::io::{self, Read as _, Write as _};
use tool_runtime::ToolError;

/// New bytes next to the file that they are to replace. Dropping it removes them.
pub(super) struct Staged<'p> {
    entry: &'p DirEntry,
    bytes: &'p [u8],
    /// The file that is replaced; `None` if it is new.
    before: Option<&'p Snapshot>,
    permissions: Option<&'p Permissions>,
    /// `None` if the directory takes no new entries.
    staging: Option<Staging<'p>>,
}

impl<'p> Staged<'p> {
    /// Writes the bytes to a temporary file in the same directory. A new file gets the given permissions, others keep
    /// their own.
    ///
    /// # Errors
    /// Neither the directory nor the file can be written, or the disk is full.
    pub(super) fn write(
        entry: &'p DirEntry,
        bytes: &'p [u8],
        before: Option<&'p Snapshot>,
        permissions: Option<&'p Permissions>,
    ) -> Result<Self, ToolError> {
        let permissions = before.map(|before| &before.permissions).or(permissions);
        let staging = match Staging::create(&entry.parent) {
            Err(error) if before.is_some() && is_refused(&error) => {
                open_to_write(entry).map(|_| None)
            }
            created => created.map(Some),
        };
        let staged = staging.and_then(|staging| {
            let staged = Self { entry, bytes, before, permissions, staging };
            staged.fill()?;
            Ok(staged)
        });
        staged.map_err(|error| describe(&entry.display_path, &error))
    }

    fn fill(&self) -> io::Result<()> {
        let Some(staging) = &self.staging else { return Ok(()) };
        let mut file = staging.create_file(self.permissions.is_some())?;
        file.write_all(self.bytes)?;
        if let Some(permissions) = self.permissions {
            file.set_permissions(permissions.clone())?;
        }
        file.sync_all()
    }

    /// Puts the bytes in place. Returns a notice if a file was written in place.
    ///
    /// # Errors
    /// The file is not the one that was read any more, or cannot be written.
    pub(super) fn publish(self) -> Result<Option<String>, ToolError> {
        let display_path = &self.entry.display_path;
        let current = self.before.map(|_| Snapshot::read(self.entry)).transpose()?;
        if let (Some(before), Some(current)) = (self.before, &current)
            && before.bytes != current.bytes
        {
            return Err(changed(display_path));
        }
        let done = match (&current, &self.staging) {
            (None, Some(staging)) => self.rename_new(staging).map(|()| None),
            (Some(current), Some(staging)) => self.replace(current, staging),
            (Some(current), None) => {
                self.write_in_place(current, "its directory takes no new files").map(Some)
            }
            (None, None) => Err(io::ErrorKind::PermissionDenied.into()),
        };
        done.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => changed(display_path),
            _ => describe(display_path, &error),
        })
    }

    fn rename_new(&self, staging: &Staging<'_>) -> io::Result<()> {
        let DirEntry { parent, name, .. } = self.entry;
        rename_no_replace(&staging.dir, staging::FILE.as_ref(), parent, name)
    }

    fn replace(&self, current: &Snapshot, staging: &Staging<'_>) -> io::Result<Option<String>> {
        let DirEntry { parent, name, .. } = self.entry;
        if let Some(reason) = self.loss(current, staging)? {
            return self.write_in_place(current, reason).map(Some);
        }
        match staging.dir.rename(staging::FILE, parent, name) {
            Ok(()) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                self.write_in_place(current, "it is a mount point").map(Some)
            }
            Err(error) if is_refused(&error) => {
                let reason = "its directory does not allow that it is replaced";
                self.write_in_place(current, reason).map(Some)
            }
            Err(error) => Err(error),
        }
    }

    /// What a file would lose if another one took its name.
    fn loss(&self, current: &Snapshot, staging: &Staging<'_>) -> io::Result<Option<&'static str>> {
        let staged = Stamp::from_metadata(&staging.dir.symlink_metadata(staging::FILE)?);
        Ok(match () {
            () if current.stamp.links > 1 => Some("it has several names, by hard links"),
            () if !current.stamp.has_owner_of(&staged) => Some("it belongs to another owner"),
            () if has_attributes(&self.entry.parent.open(&self.entry.name)?) => {
                Some("it has attributes that a new file would lack")
            }
            () => None,
        })
    }

    /// Overwrites the file, whose old content is saved first. Returns a notice.
    fn write_in_place(&self, before: &Snapshot, reason: &str) -> io::Result<String> {
        let file = open_to_write(self.entry)?;
        let stamp = Stamp::from_metadata(&file.metadata()?);
        // Other processes reach the file by its names in other directories.
        let mut file = file.into_std();
        lock::acquire(&file, None)?;
        // A link may have replaced the file.
        if stamp != before.stamp || !has_bytes(&mut file, &before.bytes)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let saved = save(self.entry, &before.bytes)?;
        let (path, saved) = (&self.entry.display_path, saved.display());
        overwrite(&mut file, self.bytes).map_err(|error| {
            let restored = match overwrite(&mut file, &before.bytes) {
                Ok(()) => "nothing was changed",
                Err(_) => "the file is damaged",
            };
            let text = format!("{error}; {restored}; the old content is in `{saved}`");
            io::Error::new(error.kind(), text)
        })?;
        Ok(format!(
            "`{path}` was written in place, which is not atomic, since {reason}; its old content is in `{saved}`"
        ))
    }
}

/// Whether a directory does not allow changes of its entries. The error of cap-std for a path that would leave its
/// directory has no number of the system.
fn is_refused(error: &io::Error) -> bool {
    let refusals = [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem];
    error.raw_os_error().is_some() && refusals.contains(&error.kind())
}

fn open_to_write(entry: &DirEntry) -> io::Result<File> {
    let mut options = OpenOptions::new();
    entry.parent.open_with(&entry.name, options.read(true).write(true))
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

/// Renames, unless the new name is taken.
pub(super) fn rename_no_replace(
    from: &cap_std::fs::Dir,
    old: &OsStr,
    to: &cap_std::fs::Dir,
    new: &OsStr,
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
