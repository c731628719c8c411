//! Reads the files in their order.

use super::files::Files;
use super::line;
use crate::backend::LogRead;
use crate::chain::{LogLine, hash};
use crate::error::LogError;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

/// A reader of the files.
pub(crate) struct JsonlReader {
    files: Files,
    current: Option<Current>,
    /// The number of the record that was read last. Reading continues after it, without a search.
    read: Option<u64>,
}

/// The file that is read.
struct Current {
    file: BufReader<File>,
    /// The number of its first record.
    first: u64,
    /// The number of the last record that was read.
    position: u64,
    /// The beginning of a line whose end is not written yet.
    partial: Vec<u8>,
}

impl JsonlReader {
    pub(crate) fn open(path: &Path) -> Result<Self, LogError> {
        // Rotated files are beside the file, not beside a link to it.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let files = Files::new(path);
        // Between two steps of a rotation there is no active file.
        if files.list()?.is_empty() {
            File::open(path).map_err(|error| LogError::io(path, &error))?;
        }
        Ok(Self { files, current: None, read: None })
    }

    /// All files with the number of their first record, in order.
    fn all(&self) -> Result<Vec<(u64, PathBuf)>, LogError> {
        let active = self.files.active();
        loop {
            let mut all = self.files.list()?;
            let first = first_position(active, &self.files)?;
            // A file that was renamed meanwhile is neither seen as rotated nor as active.
            if self.files.list()? != all {
                continue;
            }
            if active.exists() {
                all.push((first, active.to_owned()));
                all.sort();
            }
            return Ok(all);
        }
    }

    /// Opens the file with the record after `after`, or else the first one.
    fn open_at(&mut self, after: u64) -> Result<(), LogError> {
        self.current = self.open_listed(|all| {
            let containing = all.iter().rposition(|(first, _)| *first <= after.saturating_add(1));
            all.get(containing.unwrap_or(0))
        })?;
        Ok(())
    }

    /// Opens one of all files, which is chosen again if it was removed since they were listed: that is not the end of the
    /// log.
    fn open_listed(
        &self,
        choose: impl Fn(&[(u64, PathBuf)]) -> Option<&(u64, PathBuf)>,
    ) -> Result<Option<Current>, LogError> {
        loop {
            let all = self.all()?;
            let Some((first, path)) = choose(&all) else { return Ok(None) };
            if let Some(file) = self.open_file(path, *first)? {
                return Ok(Some(file));
            }
        }
    }

    /// Opens a file. `None` if it was removed since it was listed.
    fn open_file(&self, path: &Path, first: u64) -> Result<Option<Current>, LogError> {
        let opened = |path: &Path| match File::open(path) {
            Ok(file) => Ok(Some(file)),
            // A link to nothing stays in the list.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => Ok(None),
            Err(error) => Err(LogError::io(path, &error)),
        };
        let mut file = opened(path)?;
        // The active file may have been renamed before it was opened.
        if path == self.files.active()
            && let Some(renamed) = opened(&self.files.rotated(first))?
        {
            file = Some(renamed);
        }
        let current = |file| {
            let (file, position) = (BufReader::new(file), first - 1);
            Current { file, first, position, partial: Vec::new() }
        };
        Ok(file.map(current))
    }

    /// At the end of a file: continues in the next one. False if there is none.
    fn next_file(&mut self) -> Result<bool, LogError> {
        let Some(current) = &mut self.current else { return Ok(false) };
        let (own, position) = (current.first, current.position);
        let next = self.open_listed(|all| all.iter().find(|(first, _)| *first > own))?;
        let Some(next) = next else { return Ok(false) };
        // The file may have grown before the next one began; if it did not, records are missing.
        if next.first <= position + 1 || !self.grown()? {
            self.current = Some(next);
        }
        Ok(true)
    }

    /// Whether the current file has more data.
    fn grown(&mut self) -> Result<bool, LogError> {
        let Some(current) = &mut self.current else { return Ok(false) };
        let data = current.file.fill_buf().map(|data| !data.is_empty());
        data.map_err(|error| LogError::io(self.files.active(), &error))
    }
}

impl Current {
    /// The next complete line.
    fn next(&mut self) -> io::Result<Option<LogLine>> {
        self.file.read_until(b'\n', &mut self.partial)?;
        let Some(text) = self.partial.strip_suffix(b"\n") else { return Ok(None) };
        self.position += 1;
        let line = line::parse(text, self.position);
        self.partial.clear();
        Ok(Some(line))
    }
}

impl LogRead for JsonlReader {
    fn read(&mut self, after: u64, limit: usize) -> Result<Vec<LogLine>, LogError> {
        let (mut lines, mut skipped) = (Vec::new(), 0);
        if self.current.is_none() || self.read != Some(after) {
            self.open_at(after)?;
            skipped = after;
        }
        while lines.len() < limit {
            let Some(current) = &mut self.current else { break };
            let line = current.next().map_err(|error| LogError::io(self.files.active(), &error))?;
            match line {
                Some(line) if line.position > skipped => lines.push(line),
                Some(_) => {}
                // A later file with earlier records was put there by somebody else: they are not skipped.
                None if self.next_file()? => skipped = 0,
                None => break,
            }
        }
        self.read = Some(lines.last().map_or(after, |line| line.position));
        Ok(lines)
    }

    /// Rotated files end with a whole record, and before the active one.
    fn check_place(&mut self) -> Result<Vec<String>, LogError> {
        let rotated = self.files.list()?;
        let active = first_position(self.files.active(), &self.files)?;
        let mut problems = Vec::new();
        for (first, path) in rotated {
            let name = path.file_name().unwrap_or_default().display();
            if first >= active {
                problems.push(format!("`{name}` is not a file of the log: record {first} is in the active file, or was not written"));
            }
            if !ends_with_record(&path)? {
                problems.push(format!("`{name}` does not end with a whole record"));
            }
        }
        Ok(problems)
    }
}

/// Whether a file ends with a line. One that was removed meanwhile does.
fn ends_with_record(path: &Path) -> Result<bool, LogError> {
    let ends = || {
        let mut file = File::open(path)?;
        Ok(file.metadata()?.len() > 0
            && line::complete_length(&mut file)? == file.metadata()?.len())
    };
    match ends() {
        Err(error) if io::Error::kind(&error) == io::ErrorKind::NotFound => Ok(true),
        ends => ends.map_err(|error| LogError::io(path, &error)),
    }
}

/// The number of the first record of the active file: that of the record, if it is unchanged, or else the
/// one after the last rotated file.
pub(crate) fn first_position(path: &Path, files: &Files) -> Result<u64, LogError> {
    let failed = |path: &Path, error: &io::Error| LogError::io(path, error);
    let mut first = Vec::new();
    match File::open(path) {
        Ok(file) => drop(BufReader::new(file).read_until(b'\n', &mut first)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(path, &error)),
    }
    let line = line::parse(first.strip_suffix(b"\n").unwrap_or_default(), 1);
    if let Some(record) = line.record().ok().filter(|_| hash(&line.text) == line.hash) {
        return Ok(record.seq.max(1));
    }
    let Some((first, last)) = files.list()?.pop() else { return Ok(1) };
    let file = File::open(&last).map_err(|error| failed(&last, &error))?;
    Ok(first + BufReader::new(file).split(b'\n').count() as u64)
}
