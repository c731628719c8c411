//! The file with the head of a log.

use crate::chain::Head;
use crate::error::{LogError, LogErrorKind};
use crate::owner_files::{folder, options};
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A file that gets the head after each transaction.
pub(crate) struct HeadFile {
    path: PathBuf,
    /// Those of the file that is replaced. A new one is only for its owner.
    permissions: Option<Permissions>,
}

impl HeadFile {
    pub(crate) fn new(path: PathBuf, log: &Path) -> Result<Self, LogError> {
        let (own, logs) = (folder(&path), folder(log));
        let own = own.canonicalize().map_err(|error| LogError::io(&own, &error))?;
        // The log's folder may not exist yet, which opening the log reports.
        if logs.canonicalize().is_ok_and(|logs| logs == own) {
            let text = format!(
                "the head file `{}` is in the folder of the log, where it proves nothing; choose another folder",
                path.display()
            );
            return Err(LogError::new(LogErrorKind::Other, text));
        }
        let permissions = fs::metadata(&path).ok().map(|metadata| metadata.permissions());
        Ok(Self { path, permissions })
    }

    /// Replaces the file. A failure is logged; the log itself continues.
    pub(crate) fn write(&self, head: &Head) {
        if let Err(error) = self.replace(head) {
            tracing::error!("the head file `{}` cannot be written: {error}", self.path.display());
        }
    }

    fn replace(&self, head: &Head) -> io::Result<()> {
        let mut new = self.path.clone().into_os_string();
        // Each process has a file of its own.
        new.push(format!(".{}.new", std::process::id()));
        let mut text = serde_json::to_string(head).expect("strings and numbers");
        text.push('\n');
        let mut file = options().create(true).truncate(true).open(&new)?;
        if let Some(permissions) = &self.permissions {
            file.set_permissions(permissions.clone())?;
        }
        file.write_all(text.as_bytes())?;
        // Without this, the file may be empty after a loss of power.
        file.sync_data()?;
        fs::rename(&new, &self.path)
    }
}

/// Reads a head: from a head file, or as `log verify` prints it, `SEQ HASH`.
pub(crate) fn read(path: &Path) -> Result<Head, LogError> {
    let text = fs::read_to_string(path).map_err(|error| LogError::io(path, &error))?;
    if let Some(head) = printed(&text) {
        return Ok(head);
    }
    serde_json::from_str(&text).map_err(|error| {
        let text = format!(
            "`{}` is not a head of a log, `SEQ HASH` or a file that the log has written: {error}",
            path.display()
        );
        LogError::new(LogErrorKind::Damaged, text)
    })
}

fn printed(text: &str) -> Option<Head> {
    let text = text.trim();
    let (seq, hash) = text.strip_prefix("head:").unwrap_or(text).trim().split_once(' ')?;
    let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some(Head { seq: seq.parse().ok().filter(|_| is_hash)?, hash: hash.to_owned() })
}
