//! Removal of old records.

use crate::chain::{Head, LogLine};
use crate::error::LogError;
use crate::event::now_us;
use crate::record::{LogRecord, RecordKind};
use crate::writer::LogThread;
use std::time::Duration;

/// The number of records that are read at once.
const BATCH: usize = 256;
/// The part of the age after which records are looked at again.
const LOOKS_PER_AGE: u64 = 16;

/// The records that stay.
pub(crate) struct Retention {
    pub(crate) records: Option<u64>,
    pub(crate) age: Option<Duration>,
    /// The time, in microseconds since 1970.
    pub(crate) clock: Box<dyn Fn() -> u64 + Send>,
    /// The number of records after which they are counted again.
    next_count: u64,
    /// The time when their age is looked at again.
    next_look: u64,
}

impl Default for Retention {
    fn default() -> Self {
        let clock = Box::new(now_us);
        Self { records: None, age: None, clock, next_count: 0, next_look: 0 }
    }
}

impl Retention {
    /// Whether records are removed.
    pub(crate) fn removes(&self) -> bool {
        self.records.is_some() || self.age.is_some()
    }

    /// The number of records to keep, if it is time to count: whenever a quarter of them is new.
    fn count(&mut self, written: u64) -> Option<u64> {
        let records = self.records.filter(|_| written >= self.next_count)?;
        self.next_count = written + (records / 4).max(1);
        Some(records)
    }

    /// The time of the oldest record to keep, if it is time to look.
    fn oldest(&mut self) -> Option<u64> {
        let age = u64::try_from(self.age?.as_micros()).unwrap_or(u64::MAX);
        let now = (self.clock)();
        if now < self.next_look {
            return None;
        }
        self.next_look = now.saturating_add((age / LOOKS_PER_AGE).max(1));
        Some(now.saturating_sub(age))
    }
}

impl LogThread {
    /// Removes the records that are too many or too old.
    pub(crate) fn keep_retention(&mut self) {
        let (count, oldest) = (self.retention.count(self.written), self.retention.oldest());
        if count.is_none() && oldest.is_none() {
            return;
        }
        let removed = oldest.map_or(Ok(0), |oldest| self.last_before(oldest)).and_then(|aged| {
            // The last record stays: it has the hash that the next one needs.
            self.prune(|last| {
                let surplus = count.map_or(0, |count| last.saturating_sub(count));
                surplus.max(aged).min(last.saturating_sub(1))
            })
        });
        if let Err(error) = removed {
            tracing::error!("old records of the log cannot be removed: {error}");
        }
    }

    /// The last of the records at the beginning of the log that are older than a time. One that cannot be read is
    /// evidence, and stays with all that follow.
    fn last_before(&self, time_us: u64) -> Result<u64, LogError> {
        let (mut reader, mut last) = (self.backend.reader()?, 0);
        loop {
            let lines = reader.read(last, BATCH)?;
            if lines.is_empty() {
                return Ok(last);
            }
            for line in lines {
                match line.record() {
                    Ok(record) if record.time_us < time_us => last = line.position,
                    _ => return Ok(last),
                }
            }
        }
    }

    /// Removes the records up to the one that `through` chooses, given the last one.
    pub(crate) fn prune(&mut self, through: impl FnOnce(u64) -> u64) -> Result<(), LogError> {
        let last = self.last_seq()?;
        let mut new_head = None;
        let process = self.encoder.process.clone();
        let mut chain = |mut head: Head, removed: Head| {
            let mut record = LogRecord {
                kind: RecordKind::Pruned,
                through: Some(removed.seq),
                through_hash: Some(removed.hash),
                process: process.clone(),
                time_us: now_us(),
                ..LogRecord::default()
            };
            let line = LogLine::chained(&mut record, &mut head);
            new_head = Some(head);
            vec![line]
        };
        self.backend.prune(through(last), &mut chain)?;
        if let Some(head) = new_head {
            self.written += 1;
            self.on_head.iter_mut().for_each(|on_head| on_head(&head));
        }
        Ok(())
    }

    /// The number of the last record.
    fn last_seq(&mut self) -> Result<u64, LogError> {
        let mut last = 0;
        self.backend.append(&mut |head| {
            last = head.seq;
            Vec::new()
        })?;
        Ok(last)
    }
}
