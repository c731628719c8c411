//! Reading a log, also from other processes while it is written.

use crate::backend::LogRead;
use crate::chain::{Head, LogLine};
use crate::error::{LogError, LogErrorKind};
use crate::event_log::EventLog;
use crate::jsonl::JsonlReader;
use crate::record::LogRecord;
use crate::run::RunSummary;
use crate::sqlite::SqliteReader;
use crate::verify::{Verification, Verifier};
use std::collections::VecDeque;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

/// The records that are read at once.
const PAGE: usize = 512;

/// Reads a log.
///
/// ```no_run
/// use tool_runtime::audit::LogReader;
///
/// for record in LogReader::open("calls.db")?.records() {
///     let record = record?;
///     println!("{} {} {}", record.seq, record.kind, record.tool);
/// }
/// # Ok::<(), tool_runtime::audit::LogError>(())
/// ```
pub struct LogReader(Box<dyn LogRead>);

impl LogReader {
    pub(crate) fn new(reader: Box<dyn LogRead>) -> Self {
        Self(reader)
    }

    /// Opens the log in a file: JSONL if the name ends with `.jsonl`, else SQLite.
    ///
    /// # Errors
    /// The file does not exist, cannot be read, or is not a log.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LogError> {
        let path = path.as_ref();
        let opened = match EventLog::is_lines(path) {
            true => JsonlReader::open(path).map(|reader| Self(Box::new(reader))),
            false => SqliteReader::open(path).map(|reader| Self(Box::new(reader))),
        };
        opened.map_err(|error| not_a_log(path).unwrap_or(error))
    }

    /// All records.
    pub fn records(self) -> Records {
        self.records_after(0)
    }

    /// The records after this number.
    pub fn records_after(self, seq: u64) -> Records {
        Records { reader: self.0, after: seq, page: VecDeque::new() }
    }

    /// The projection of a run.
    ///
    /// # Errors
    /// The log cannot be read, or a record of the run is damaged.
    pub fn run(mut self, run: &str) -> Result<RunSummary, LogError> {
        let lines = self.0.run(run)?;
        let records: Result<Vec<LogRecord>, LogError> = lines.iter().map(record).collect();
        Ok(RunSummary::new(run, records?))
    }

    /// Checks the chain of hashes. With a head that was kept elsewhere, finds that the end was cut.
    ///
    /// # Errors
    /// The log cannot be read. Whatever is wrong with its records is in the result.
    pub fn verify(mut self, head: Option<&Head>) -> Result<Verification, LogError> {
        let mut verifier = Verifier::new(head);
        self.0.check_storage()?.into_iter().for_each(|detail| verifier.check_storage(detail));
        let mut after = 0;
        loop {
            let lines = match self.0.read(after, PAGE) {
                Err(error) if error.kind() == LogErrorKind::Damaged => {
                    verifier.check_storage(error.to_string());
                    break;
                }
                lines => lines?,
            };
            let Some(last) = lines.last() else { break };
            after = last.position;
            lines.iter().for_each(|line| verifier.check(line));
        }
        // Records may have been removed while they were read.
        let first = self.0.read(0, 1)?.first().map(|line| line.position);
        Ok(verifier.end(first))
    }
}

impl fmt::Debug for LogReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogReader")
    }
}

/// The reason why there is no log in a file, if it has none.
fn not_a_log(path: &Path) -> Option<LogError> {
    let display = path.display();
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = format!(
                "the log `{display}` does not exist: give the file that the program opens, or look for who removed it"
            );
            Some(LogError::new(LogErrorKind::NotFound, text))
        }
        Ok(metadata) if metadata.len() == 0 => {
            let text = format!(
                "`{display}` is empty and no log: give the file that the program opens, or look for who emptied it"
            );
            Some(LogError::new(LogErrorKind::Damaged, text))
        }
        _ => None,
    }
}

/// The records of a log, in their order. After the end, `next` gives records that were written since.
pub struct Records {
    reader: Box<dyn LogRead>,
    after: u64,
    page: VecDeque<LogLine>,
}

impl Iterator for Records {
    type Item = Result<LogRecord, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty() {
            match self.reader.read(self.after, PAGE) {
                Ok(lines) => self.page.extend(lines),
                Err(error) => return Some(Err(error)),
            }
        }
        let line = self.page.pop_front()?;
        self.after = line.position;
        Some(record(&line))
    }
}

fn record(line: &LogLine) -> Result<LogRecord, LogError> {
    line.record().map_err(|error| {
        let text = format!("record {} cannot be read: {error}", line.position);
        LogError::new(LogErrorKind::Damaged, text)
    })
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").field("after", &self.after).finish_non_exhaustive()
    }
}
