//! The names of the files.

use crate::error::LogError;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The digits of a number in a name, so that names sort like numbers.
const DIGITS: usize = 20;

/// The active file, and those that were rotated.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    active: PathBuf,
}

impl Files {
    pub(crate) fn new(active: &Path) -> Self {
        Self { active: active.to_owned() }
    }

    pub(crate) fn active(&self) -> &Path {
        &self.active
    }

    /// The name of a rotated file, by its first record.
    pub(crate) fn rotated(&self, first: u64) -> PathBuf {
        let mut name = self.stem();
        name.push(format!(".{first:0DIGITS$}.jsonl"));
        self.active.with_file_name(name)
    }

    fn stem(&self) -> OsString {
        self.active.file_stem().unwrap_or_default().to_owned()
    }

    /// The rotated files with the number of their first record, in order.
    pub(crate) fn list(&self) -> Result<Vec<(u64, PathBuf)>, LogError> {
        let folder = match self.active.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let failed = |error: io::Error| LogError::io(folder, &error);
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if let Some(first) = self.first_of(&entry.file_name().to_string_lossy()) {
                files.push((first, self.rotated(first)));
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    fn first_of(&self, name: &str) -> Option<u64> {
        let stem = self.stem();
        let rest = name.strip_prefix(&*stem.to_string_lossy())?.strip_prefix('.')?;
        let digits = rest.strip_suffix(".jsonl").filter(|digits| digits.len() == DIGITS)?;
        digits.parse().ok().filter(|first| *first > 0)
    }
}
