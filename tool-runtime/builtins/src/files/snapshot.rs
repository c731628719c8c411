//! The bytes of a file at one moment, and whether it changed since.

use super::dir_entry::{DirEntry, describe};
use cap_std::fs::{Metadata, Permissions};
use sha2::{Digest as _, Sha256};
use std::io::Read as _;
use tool_runtime::ToolError;

/// Limit on files that are read whole to show them. Larger ones are read in parts.
pub(super) const MAX_SHOWN: u64 = 16 * 1024 * 1024;

/// Limit on files that are changed.
pub(super) const MAX_CHANGED: u64 = 8 * 1024 * 1024;

/// The SHA-256 of a file.
pub(super) type Hash = [u8; 32];

/// The bytes of a file, with what a new version keeps.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) bytes: Vec<u8>,
    pub(super) stamp: Stamp,
    pub(super) permissions: Permissions,
}

impl Snapshot {
    /// Reads a file that is to be changed.
    ///
    /// # Errors
    /// It is too large, or cannot be read.
    pub(super) fn read(entry: &DirEntry) -> Result<Self, ToolError> {
        Self::read_up_to(MAX_CHANGED, entry)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It has more bytes than `most`, or cannot be read.
    pub(super) fn read_up_to(most: u64, entry: &DirEntry) -> Result<Self, ToolError> {
        let (file, metadata) = entry.open()?;
        if metadata.len() > most {
            return Err(too_large(&entry.display_path, metadata.len()));
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        let read = file.take(most + 1).read_to_end(&mut bytes);
        read.map_err(|error| describe(&entry.display_path, &error))?;
        if bytes.len() as u64 > most {
            return Err(too_large(&entry.display_path, bytes.len() as u64));
        }
        let permissions = metadata.permissions();
        Ok(Self { bytes, stamp: Stamp::from_metadata(&metadata), permissions })
    }

    pub(super) fn hash(&self) -> Hash {
        hash(&self.bytes)
    }
}

fn too_large(display_path: &str, length: u64) -> ToolError {
    ToolError::user(format!(
        "`{display_path}` has {length} bytes, and files of more than {MAX_CHANGED} cannot be changed by this tool; use a command such as `sed`, or a script"
    ))
}

pub(super) fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// Identity and times of a file, which change whenever it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    length: u64,
    #[cfg(unix)]
    identity: (u64, u64),
    #[cfg(unix)]
    times: [i64; 4],
    #[cfg(not(unix))]
    modified: Option<cap_std::time::SystemTime>,
    /// The number of its names, where known.
    pub(super) links: u64,
    #[cfg(unix)]
    owner: (u32, u32),
}

impl Stamp {
    #[cfg(unix)]
    pub(super) fn from_metadata(metadata: &Metadata) -> Self {
        use cap_std::fs::MetadataExt as _;
        Self {
            length: metadata.len(),
            identity: (metadata.dev(), metadata.ino()),
            times: [
                metadata.mtime(),
                metadata.mtime_nsec(),
                metadata.ctime(),
                metadata.ctime_nsec(),
            ],
            links: metadata.nlink(),
            owner: (metadata.uid(), metadata.gid()),
        }
    }

    #[cfg(not(unix))]
    pub(super) fn from_metadata(metadata: &Metadata) -> Self {
        Self { length: metadata.len(), modified: metadata.modified().ok(), links: 1 }
    }

    #[cfg(unix)]
    pub(super) fn has_owner_of(&self, other: &Self) -> bool {
        self.owner == other.owner
    }

    #[cfg(not(unix))]
    pub(super) fn has_owner_of(&self, _: &Self) -> bool {
        true
    }
}
