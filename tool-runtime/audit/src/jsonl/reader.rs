//! Reads the file.

use super::line;
use crate::backend::LogRead;
use crate::chain::{LogLine, hash};
use crate::error::LogError;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _};
use std::path::{Path, PathBuf};

/// The largest number of a first record, so that those after it can be counted.
const MAX_FIRST: u64 = i64::MAX as u64;

/// A reader of the file.
pub(crate) struct JsonlReader {
    path: PathBuf,
    file: BufReader<File>,
    /// The number of the last record that was read. Reading continues after it, without a search.
    position: u64,
    /// The beginning of a line whose end is not written yet.
    partial: Vec<u8>,
}

impl JsonlReader {
    pub(crate) fn open(path: &Path) -> Result<Self, LogError> {
        let file = File::open(path).map_err(|error| LogError::io(path, &error))?;
        let (path, file, partial) = (path.to_owned(), BufReader::new(file), Vec::new());
        Ok(Self { path, file, position: u64::MAX, partial })
    }

    /// Goes back to the first record.
    fn rewind(&mut self) -> io::Result<()> {
        self.file.rewind()?;
        self.partial.clear();
        self.position = 0;
        // The first record tells its number, unless it was changed.
        let first = self.next()?;
        let record = first.filter(|line| hash(&line.text) == line.hash);
        let seq = record
            .and_then(|line| line.record().ok())
            .map_or(1, |record| record.seq.min(MAX_FIRST));
        self.file.rewind()?;
        self.partial.clear();
        self.position = seq.saturating_sub(1);
        Ok(())
    }

    /// The next complete line.
    fn next(&mut self) -> io::Result<Option<LogLine>> {
        self.file.read_until(b'\n', &mut self.partial)?;
        let Some(text) = self.partial.strip_suffix(b"\n") else { return Ok(None) };
        self.position = self.position.saturating_add(1);
        let line = line::parse(text, self.position);
        self.partial.clear();
        Ok(Some(line))
    }

    fn lines(&mut self, after: u64, limit: usize) -> io::Result<Vec<LogLine>> {
        if self.position != after {
            self.rewind()?;
        }
        let mut lines = Vec::new();
        while lines.len() < limit {
            let Some(line) = self.next()? else { break };
            if line.position > after {
                lines.push(line);
            }
        }
        Ok(lines)
    }
}

impl LogRead for JsonlReader {
    fn read(&mut self, after: u64, limit: usize) -> Result<Vec<LogLine>, LogError> {
        self.lines(after, limit).map_err(|error| LogError::io(&self.path, &error))
    }
}
