//! A log in JSONL files. One process writes; others may read.
//!
//! Each line is `{"hash":HASH,"record":RECORD}`. A file that has reached its size is renamed:
//! `calls.jsonl` becomes `calls.00000000000000000001.jsonl`, by the number of its first record. The first
//! record of each file has the hash of the last one before it, like every record.

mod files;
mod line;
mod reader;

use crate::backend::{LogBackend, LogRead, PruneChain};
use crate::chain::{Head, LogLine};
use crate::error::{LogError, LogErrorKind};
use crate::owner_files;
use files::Files;
pub(crate) use reader::JsonlReader;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// The writer of the files.
#[derive(Debug)]
pub(crate) struct JsonlLog {
    files: Files,
    /// The active file.
    file: File,
    /// Its length up to the last complete line.
    length: u64,
    rotate_at: u64,
    head: Head,
    /// The records of all steps.
    steps: HashMap<String, Vec<LogLine>>,
    /// Held as long as this process may write.
    _lock: File,
}

impl JsonlLog {
    pub(crate) fn open(path: &Path, rotate_at: u64) -> Result<Self, LogError> {
        drop(active(path)?);
        // Rotation renames the file, not a link to it.
        let path = &fs::canonicalize(path).map_err(|error| LogError::io(path, &error))?;
        owner_files::warn_if_exposed(path);
        let files = Files::new(path);
        let lock = lock(path)?;
        let mut file = locked(path)?;
        let length = without_torn_line(&mut file, path)?;
        // A new file survives the loss of power only once its folder does.
        sync_folder(path).map_err(|error| LogError::io(path, &error))?;
        let (mut head, mut steps) = (Head::empty(), HashMap::<_, Vec<_>>::new());
        let (mut reader, mut after) = (JsonlReader::open(path)?, 0);
        loop {
            let lines = reader.read(after, 1024)?;
            let Some(last) = lines.last() else { break };
            (after, head) = (last.position, last.head());
            for line in lines {
                if let Some(step) = &line.step {
                    steps.entry(step.clone()).or_default().push(line);
                }
            }
        }
        Ok(Self { files, file, length, rotate_at, head, steps, _lock: lock })
    }

    fn path(&self) -> &Path {
        self.files.active()
    }

    /// Writes lines, and takes them back if that fails.
    fn write(&mut self, lines: &[LogLine]) -> Result<(), LogError> {
        let text: String = lines.iter().map(line::to_text).collect();
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Also before the next attempt, if it fails now.
            drop(self.cut());
            return Err(LogError::io(self.path(), &error));
        }
        self.length += text.len() as u64;
        Ok(())
    }

    /// Removes what was written partly.
    fn cut(&mut self) -> std::io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length)).map(drop)
    }

    /// Renames the active file, if it is large, and begins another.
    fn rotate(&mut self) -> Result<(), LogError> {
        if self.length == 0 || self.length < self.rotate_at {
            return Ok(());
        }
        let path = self.path().to_owned();
        let failed = |error: std::io::Error| LogError::io(&path, &error);
        self.cut().map_err(failed)?;
        // It was renamed already, if the new file could not be created then.
        if path.try_exists().map_err(failed)? {
            let first = reader::first_position(&path, &self.files)?;
            fs::rename(&path, self.files.rotated(first)).map_err(failed)?;
        }
        let permissions = self.file.metadata().map_err(failed)?.permissions();
        self.file = locked(&path)?;
        self.file.set_permissions(permissions).map_err(failed)?;
        self.length = 0;
        sync_folder(&path).map_err(failed)
    }

    fn append_lines(&mut self, lines: Vec<LogLine>) -> Result<(), LogError> {
        self.cut().map_err(|error| LogError::io(self.path(), &error))?;
        self.write(&lines)?;
        for line in lines {
            self.head = line.head();
            if let Some(step) = &line.step {
                self.steps.entry(step.clone()).or_default().push(line);
            }
        }
        Ok(())
    }
}

impl LogBackend for JsonlLog {
    fn append(&mut self, chain: &mut dyn FnMut(Head) -> Vec<LogLine>) -> Result<(), LogError> {
        let lines = chain(self.head.clone());
        if lines.is_empty() {
            return Ok(());
        }
        self.rotate()?;
        self.append_lines(lines)
    }

    fn step(&mut self, step: &str) -> Result<Vec<LogLine>, LogError> {
        Ok(self.steps.get(step).cloned().unwrap_or_default())
    }

    fn reader(&self) -> Result<Box<dyn LogRead>, LogError> {
        Ok(Box::new(JsonlReader::open(self.path())?))
    }

    /// The record is durable before the files go: files that stay although they are recorded as removed
    /// are removed by the next call.
    fn prune(&mut self, through: u64, chain: PruneChain<'_>) -> Result<(), LogError> {
        let rotated = self.files.list()?;
        // The last record of a file is the one before the first of the next.
        let next = rotated.iter().skip(1).map(|(first, _)| Ok(*first));
        let active = reader::first_position(self.path(), &self.files);
        let ends = next.chain([active]).collect::<Result<Vec<u64>, LogError>>()?;
        let count =
            ends.iter().take(rotated.len()).filter(|end| end.saturating_sub(1) <= through).count();
        let Some(last) = count.checked_sub(1) else { return Ok(()) };
        let position = ends[last].saturating_sub(1);
        let before = position.checked_sub(1).ok_or_else(|| missing(1))?;
        let removed = JsonlReader::open(self.path())?.read(before, 1)?.pop();
        let removed = removed.ok_or_else(|| missing(position))?;
        let lines = chain(self.head.clone(), removed.head());
        self.append_lines(lines)?;
        for (_, path) in &rotated[..count] {
            fs::remove_file(path).map_err(|error| LogError::io(path, &error))?;
        }
        self.steps
            .retain(|_, lines| lines.last().is_some_and(|line| line.position > removed.position));
        Ok(())
    }
}

fn missing(position: u64) -> LogError {
    LogError::new(LogErrorKind::Damaged, format!("record {position} of the log is missing"))
}

/// Takes the lock of the writer. It stays while files are rotated.
fn lock(path: &Path) -> Result<File, LogError> {
    let mut own = path.as_os_str().to_owned();
    own.push(".lock");
    let own = PathBuf::from(own);
    let file = owner_files::options().create(true).truncate(false).open(&own);
    let file = file.map_err(|error| LogError::io(&own, &error))?;
    take(&file, path)?;
    Ok(file)
}

/// The active file, locked against writers that know it by another name. Elsewhere than on Unix, such a lock keeps
/// readers out.
fn locked(path: &Path) -> Result<File, LogError> {
    let file = active(path)?;
    if cfg!(unix) {
        take(&file, path)?;
    }
    Ok(file)
}

fn take(file: &File, path: &Path) -> Result<(), LogError> {
    file.try_lock().map_err(|error| match error {
        fs::TryLockError::WouldBlock => {
            let text = format!(
                "`{}` is written by another process; give each its own file, or use SQLite",
                path.display()
            );
            LogError::new(LogErrorKind::Busy, text)
        }
        fs::TryLockError::Error(error) => LogError::io(path, &error),
    })
}

fn active(path: &Path) -> Result<File, LogError> {
    let options = owner_files::options().create(true).truncate(false).read(true).open(path);
    options.map_err(|error| LogError::io(path, &error))
}

/// Removes a last line that was not written to its end, and gives the length of the rest. No call was told
/// that it is durable.
fn without_torn_line(file: &mut File, path: &Path) -> Result<u64, LogError> {
    let failed = |error: std::io::Error| LogError::io(path, &error);
    let length = line::complete_length(file).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() > length {
        tracing::warn!("the last line of `{}` was not written to its end", path.display());
        file.set_len(length).map_err(failed)?;
    }
    file.seek(SeekFrom::Start(length)).map_err(failed)?;
    Ok(length)
}

/// Makes a new or renamed file durable.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) && !folder.as_os_str().is_empty() => {
            File::open(folder)?.sync_all()
        }
        _ => Ok(()),
    }
}

/// The rotated files of a log.
#[cfg(test)]
pub(crate) fn rotated_files(path: &Path) -> Vec<PathBuf> {
    Files::new(path).list().unwrap().into_iter().map(|(_, path)| path).collect()
}
