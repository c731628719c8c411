//! A log in a JSONL file, which is only written and checked: it looks up no steps and removes no records. One process
//! writes; others may read.
//!
//! Each line is `{"hash":HASH,"record":RECORD}`.

mod line;
mod reader;

use crate::backend::{LogBackend, LogRead};
use crate::chain::{Head, LogLine};
use crate::error::{LogError, LogErrorKind};
use crate::owner_files;
pub(crate) use reader::JsonlReader;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// The writer of the file.
#[derive(Debug)]
pub(crate) struct JsonlLog {
    path: PathBuf,
    file: File,
    /// Its length up to the last complete line.
    length: u64,
    head: Head,
    /// Held as long as this process may write.
    _lock: Option<File>,
}

impl JsonlLog {
    pub(crate) fn open(path: &Path) -> Result<Self, LogError> {
        let created = owner_files::create(path);
        let opened = created.and_then(|()| owner_files::options().read(true).open(path));
        let mut file = opened.map_err(|error| LogError::io(path, &error))?;
        let path = fs::canonicalize(path).map_err(|error| LogError::io(path, &error))?;
        owner_files::warn_if_exposed(&path);
        let lock = lock(&file, &path)?;
        let length = without_torn_line(&mut file, &path)?;
        // A new file survives the loss of power only once its folder does.
        sync_folder(&path).map_err(|error| LogError::io(&path, &error))?;
        let head = last_record(&mut file, length, &path)?;
        let mut log = Self { path, file, length, head, _lock: lock };
        log.cut().map_err(|error| LogError::io(&log.path, &error))?;
        Ok(log)
    }

    /// Writes lines, and takes them back if that fails.
    fn write(&mut self, lines: &[LogLine]) -> Result<(), LogError> {
        let text: String = lines.iter().map(line::to_text).collect();
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Also before the next attempt, if it fails now.
            drop(self.cut());
            return Err(LogError::io(&self.path, &error));
        }
        self.length += text.len() as u64;
        Ok(())
    }

    /// Removes what was written partly.
    fn cut(&mut self) -> std::io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length)).map(drop)
    }
}

impl LogBackend for JsonlLog {
    fn append(&mut self, chain: &mut dyn FnMut(Head) -> Vec<LogLine>) -> Result<(), LogError> {
        let lines = chain(self.head.clone());
        let Some(last) = lines.last() else { return Ok(()) };
        self.cut().map_err(|error| LogError::io(&self.path, &error))?;
        self.write(&lines)?;
        self.head = last.head();
        Ok(())
    }

    fn step(&mut self, _: &str) -> Result<Vec<LogLine>, LogError> {
        Err(no_steps(&self.path))
    }

    fn reader(&self) -> Result<Box<dyn LogRead>, LogError> {
        Ok(Box::new(JsonlReader::open(&self.path)?))
    }
}

/// Steps are looked up in SQLite, which has an index of them.
pub(crate) fn no_steps(path: &Path) -> LogError {
    let text = format!(
        "`{}` is a JSONL log, which looks up no steps of repeated runs: use a SQLite file, or call `EventLogBuilder::record_only` if no run is repeated",
        path.display()
    );
    LogError::new(LogErrorKind::Other, text)
}

/// Keeps other writers out, under whatever name they know the file. Elsewhere than on Unix, a lock of the file itself
/// would keep readers out, so that a file next to it has the lock.
fn lock(file: &File, path: &Path) -> Result<Option<File>, LogError> {
    if cfg!(unix) {
        return take(file, path).map(|()| None);
    }
    let mut own = path.as_os_str().to_owned();
    own.push(".lock");
    let own = PathBuf::from(own);
    let lock = owner_files::options().create(true).truncate(false).open(&own);
    let lock = lock.map_err(|error| LogError::io(&own, &error))?;
    take(&lock, path)?;
    Ok(Some(lock))
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

/// Removes a last line that was not written to its end, and gives the length of the rest. No call was told
/// that it is durable.
fn without_torn_line(file: &mut File, path: &Path) -> Result<u64, LogError> {
    let failed = |error: std::io::Error| LogError::io(path, &error);
    let end = file.metadata().map_err(failed)?.len();
    let length = line::beginning(file, end).map_err(failed)?;
    if end > length {
        tracing::warn!("the last line of `{}` was not written to its end", path.display());
        file.set_len(length).map_err(failed)?;
    }
    Ok(length)
}

/// The last record of a file of complete lines.
fn last_record(file: &mut File, length: u64, path: &Path) -> Result<Head, LogError> {
    let Some(end) = length.checked_sub(1) else { return Ok(Head::empty()) };
    let mut read = || {
        let start = line::beginning(file, end)?;
        let mut text = vec![0; usize::try_from(end - start).unwrap_or_default()];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut text)?;
        Ok(text)
    };
    let text = read().map_err(|error: std::io::Error| LogError::io(path, &error))?;
    let line = line::parse(&text, 0);
    let record = line.record().map_err(|_| {
        let text = format!(
            "the last line of `{}` is not a record: check it by `log verify`, and begin another file",
            path.display()
        );
        LogError::new(LogErrorKind::Damaged, text)
    })?;
    Ok(Head { seq: record.seq, hash: line.hash })
}

/// Makes a new file durable.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}
