//! A log in memory.

use crate::backend::{LogBackend, LogRead, PruneChain};
use crate::chain::{Head, LogLine};
use crate::error::LogError;
use std::sync::{Arc, Mutex, MutexGuard};
use tool_runtime_core::seam::lock;

/// The records.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryLog(Arc<Mutex<Vec<LogLine>>>);

impl MemoryLog {
    fn lines(&self) -> MutexGuard<'_, Vec<LogLine>> {
        lock(&self.0)
    }
}

impl LogBackend for MemoryLog {
    fn append(&mut self, chain: &mut dyn FnMut(Head) -> Vec<LogLine>) -> Result<(), LogError> {
        let mut lines = self.lines();
        let new = chain(lines.last().map_or_else(Head::empty, LogLine::head));
        lines.extend(new);
        Ok(())
    }

    fn step(&mut self, step: &str) -> Result<Vec<LogLine>, LogError> {
        let lines = self.lines();
        Ok(lines.iter().filter(|line| line.step.as_deref() == Some(step)).cloned().collect())
    }

    fn reader(&self) -> Result<Box<dyn LogRead>, LogError> {
        Ok(Box::new(self.clone()))
    }

    fn prune(&mut self, through: u64, chain: PruneChain<'_>) -> Result<(), LogError> {
        let mut lines = self.lines();
        let count = lines.partition_point(|line| line.position <= through);
        let (Some(last), Some(removed)) =
            (lines.last().map(LogLine::head), count.checked_sub(1).map(|last| lines[last].head()))
        else {
            return Ok(());
        };
        let new = chain(last, removed);
        lines.extend(new);
        lines.drain(..count);
        Ok(())
    }
}

impl LogRead for MemoryLog {
    fn read(&mut self, after: u64, limit: usize) -> Result<Vec<LogLine>, LogError> {
        let lines = self.lines();
        let first = lines.partition_point(|line| line.position <= after);
        Ok(lines.iter().skip(first).take(limit).cloned().collect())
    }
}
