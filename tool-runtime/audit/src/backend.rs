//! The storage of a log: what a backend must do.

use crate::chain::{Head, LogLine};
use crate::error::{LogError, LogErrorKind};

/// Stores the records of a log. The crate has three: SQLite, a JSONL file, memory.
///
/// A backend is used by one thread. It does not handle the chain: it calls back with the last record, and
/// stores what it gets.
pub trait LogBackend: Send + 'static {
    /// Gets ready to write when a pool with the log is built: creates what does not exist yet. Default: nothing.
    ///
    /// # Errors
    /// The log cannot be written.
    fn prepare(&mut self) -> Result<(), LogError> {
        Ok(())
    }

    /// Appends records, all or none. They are durable once this returns.
    ///
    /// `chain` takes the last record, [`Head::empty`] of an empty log, and gives the lines that follow
    /// it. If other processes write to the log, they must not from the call of `chain` to the end. It
    /// may be called again if the backend repeats its transaction.
    ///
    /// # Errors
    /// The records are not stored.
    fn append(&mut self, chain: &mut dyn FnMut(Head) -> Vec<LogLine>) -> Result<(), LogError>;

    /// The records of a step, in their order.
    ///
    /// # Errors
    /// The log cannot be read.
    fn step(&mut self, step: &str) -> Result<Vec<LogLine>, LogError>;

    /// Opens a reader, which sees what is appended later, too.
    ///
    /// # Errors
    /// The log cannot be read.
    fn reader(&self) -> Result<Box<dyn LogRead>, LogError>;

    /// Appends the records of `chain`, and removes all up to a position, or fewer if the log cannot be
    /// cut there: the last removed is given to `chain`, with its hash. Nothing is done if none would be
    /// removed.
    ///
    /// # Errors
    /// The log cannot be written. Default: removing is not supported.
    fn prune(&mut self, through: u64, chain: PruneChain<'_>) -> Result<(), LogError> {
        let _ = (through, chain);
        Err(LogError::new(LogErrorKind::Other, "this log does not remove records"))
    }
}

/// Makes the record about removed records: from the last record, and the last one removed.
pub type PruneChain<'a> = &'a mut dyn FnMut(Head, Head) -> Vec<LogLine>;

/// Reads a log, also while it is written.
pub trait LogRead: Send {
    /// The next records after a position, at most `limit`; empty at the end.
    ///
    /// # Errors
    /// The log cannot be read.
    fn read(&mut self, after: u64, limit: usize) -> Result<Vec<LogLine>, LogError>;

    /// The records of a run, in their order. Default: reads the whole log.
    ///
    /// # Errors
    /// The log cannot be read.
    fn run(&mut self, run: &str) -> Result<Vec<LogLine>, LogError> {
        let (mut found, mut after) = (Vec::new(), 0);
        loop {
            let lines = self.read(after, 1024)?;
            let Some(last) = lines.last() else { return Ok(found) };
            after = last.position;
            found.extend(lines.into_iter().filter(|line| line.run.as_deref() == Some(run)));
        }
    }

    /// Problems of the storage besides the records, a sentence each: a changed schema, say.
    /// Default: none.
    ///
    /// # Errors
    /// The log cannot be read.
    fn check_storage(&mut self) -> Result<Vec<String>, LogError> {
        Ok(Vec::new())
    }
}
