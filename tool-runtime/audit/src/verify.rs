//! Checks the chain of hashes.

use crate::chain::{Head, LogLine, hash};
use crate::record::{LogRecord, RecordKind};
use std::collections::HashMap;
use std::fmt;

/// The most problems that are listed one by one.
const MAX_PROBLEMS: usize = 100;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// The number of records.
    pub records: u64,
    /// The number of the first record; more than 1 if earlier ones were removed by the retention.
    pub first: u64,
    /// The last record: keep it, and give it to the next check.
    pub head: Head,
    /// The problems, at most 100.
    pub problems: Vec<LogProblem>,
    /// Whether the end was compared with a head that was kept elsewhere. Without one, nothing tells that
    /// the last records were cut off. False also for a head whose record was removed by the retention.
    pub is_tail_checked: bool,
    /// The last record that was removed, if the record about it is newer than the head that was kept elsewhere:
    /// nothing tells then whether the retention removed it, or somebody who can write the log.
    pub unproven_removal: Option<u64>,
}

impl Verification {
    /// Whether nothing was found. False for a log without records, too.
    pub fn is_intact(&self) -> bool {
        self.problems.is_empty()
    }
}

/// A problem of a log. `Display` writes a sentence that names the record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogProblem {
    /// The text, the hash or the index of the record was changed.
    Changed {
        /// The position of the record.
        position: u64,
    },
    /// The record was replaced, with a new hash: the next one has another.
    Replaced {
        /// The position of the record.
        position: u64,
    },
    /// Another record is at this position.
    Moved {
        /// The position.
        position: u64,
        /// The number of the record there.
        seq: u64,
    },
    /// The record is a second one with this number.
    Repeated {
        /// The position of the record.
        position: u64,
    },
    /// The storage was changed besides the records: the schema of the database, its indexes.
    Storage {
        /// The change, as a sentence.
        detail: String,
    },
    /// Records are missing between others or at the beginning.
    Missing {
        /// The first of them.
        from: u64,
        /// The last of them.
        to: u64,
    },
    /// The log has no record: nothing tells whether it ever had some.
    Empty,
    /// The log ends before the head that was kept elsewhere.
    TailCut {
        /// The last record.
        last: u64,
        /// The number of the head.
        head: u64,
    },
    /// The record with the number of the head that was kept elsewhere has another hash: it, or one before
    /// it, was replaced together with all that follow.
    OtherHead {
        /// The number of the head.
        head: u64,
    },
}

impl fmt::Display for LogProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { position } => write!(f, "record {position} was changed"),
            Self::Replaced { position } => {
                write!(f, "record {position} was replaced: the next record has another hash of it")
            }
            Self::Moved { position, seq } => {
                write!(f, "record {seq} is at the position of record {position}")
            }
            Self::Repeated { position } => {
                write!(f, "record {position} is in the log more than once")
            }
            Self::Storage { detail } => f.write_str(detail),
            Self::Missing { from, to } if from == to => write!(f, "record {from} is missing"),
            Self::Missing { from, to } => write!(f, "records {from} to {to} are missing"),
            Self::Empty => f.write_str(
                "the log is empty: either nothing was recorded, or all records were removed",
            ),
            Self::TailCut { last, head } => write!(
                f,
                "the end was cut: the last record is {last}, and record {head} was written"
            ),
            Self::OtherHead { head } => write!(
                f,
                "record {head} has another hash than the head that was kept: the log was written anew"
            ),
        }
    }
}

/// The record before, as the next one must refer to it.
struct Previous {
    position: u64,
    hash: String,
    /// Whether a problem of it was reported.
    is_reported: bool,
}

/// Checks lines one after the other.
pub(crate) struct Verifier<'a> {
    known_head: Option<&'a Head>,
    found: Verification,
    previous: Option<Previous>,
    /// The first record, and the hash that it has of the one before it, unless it was changed.
    start: Option<(u64, Option<String>)>,
    /// The removed records that are recorded: the last of them, its hash, and the position of the record about it.
    pruned: HashMap<u64, (String, u64)>,
    /// The first and the last record of each gap.
    gaps: Vec<(u64, u64)>,
    has_known_head: bool,
}

impl<'a> Verifier<'a> {
    pub(crate) fn new(known_head: Option<&'a Head>) -> Self {
        let found = Verification {
            records: 0,
            first: 1,
            head: Head::empty(),
            problems: Vec::new(),
            is_tail_checked: known_head.is_some(),
            unproven_removal: None,
        };
        let has_known_head = known_head.is_some_and(|head| head.seq == 0);
        let pruned = HashMap::new();
        let (previous, start, gaps) = (None, None, Vec::new());
        Self { known_head, found, previous, start, pruned, gaps, has_known_head }
    }

    fn report(&mut self, problem: LogProblem) {
        if self.found.problems.len() < MAX_PROBLEMS {
            self.found.problems.push(problem);
        }
    }

    pub(crate) fn check_storage(&mut self, detail: String) {
        self.report(LogProblem::Storage { detail });
    }

    pub(crate) fn check(&mut self, line: &LogLine) {
        self.found.records += 1;
        let position = line.position;
        let record = line.record().ok().filter(|record| is_unchanged(line, record));
        let prev = record.as_ref().filter(|record| record.seq == position);
        self.start.get_or_insert_with(|| (position, prev.map(|record| record.prev.clone())));
        let mut is_reported = record.is_none();
        if is_reported {
            self.report(LogProblem::Changed { position });
        }
        self.check_gap(position);
        if let Some(record) = record {
            if record.seq != position {
                self.report(LogProblem::Moved { position, seq: record.seq });
                is_reported = true;
            } else {
                self.check_link(position, &record);
            }
            // The retention keeps the record before its own.
            if let (RecordKind::Pruned, Some(through), Some(hash)) =
                (record.kind, record.through, record.through_hash)
                && through.saturating_add(1) < position
            {
                self.pruned.entry(through).or_insert((hash, position));
            }
        }
        self.check_head(line);
        let hash = line.hash.clone();
        self.found.head = Head { seq: position, hash: hash.clone() };
        self.previous = Some(Previous { position, hash, is_reported });
    }

    /// Positions follow each other. Gaps are reported at the end, once it is known what was removed: records
    /// may go while they are read.
    fn check_gap(&mut self, position: u64) {
        let Some(previous) = &self.previous else { return };
        let expected = previous.position + 1;
        match position {
            _ if position < expected => self.report(LogProblem::Repeated { position }),
            _ if position > expected => self.gaps.push((expected, position - 1)),
            _ => {}
        }
    }

    /// The record has the hash of the one before it.
    fn check_link(&mut self, position: u64, record: &LogRecord) {
        if let Some(Previous { position: last, hash, is_reported: false }) = &self.previous
            && last + 1 == position
            && *hash != record.prev
        {
            let position = *last;
            self.report(LogProblem::Replaced { position });
        }
    }

    fn check_head(&mut self, line: &LogLine) {
        if let Some(head) = self.known_head.filter(|head| head.seq == line.position) {
            self.has_known_head = true;
            if head.hash != line.hash {
                self.report(LogProblem::OtherHead { head: head.seq });
            }
        }
    }

    /// Ends the check. `first` is the first record that the log has now.
    pub(crate) fn end(mut self, first: Option<u64>) -> Verification {
        if let Some((first, prev)) = self.start.take() {
            self.found.first = first;
            self.check_start(first, prev.as_deref());
        }
        let removed = self.pruned.keys().copied().max().unwrap_or(0);
        for (from, to) in std::mem::take(&mut self.gaps) {
            // The records before the gap were removed, too, since they were read.
            let was_removed = to <= removed && first.is_some_and(|first| first >= from);
            if !was_removed {
                self.report(LogProblem::Missing { from, to });
            }
        }
        self.check_tail();
        if self.found.records == 0 && self.found.is_intact() {
            self.report(LogProblem::Empty);
        }
        self.found.unproven_removal = self.unproven_removal();
        self.found
    }

    fn unproven_removal(&self) -> Option<u64> {
        let (head, last) = (self.known_head?.seq, self.found.first - 1);
        let mut removals = self.pruned.iter().filter(|(through, _)| **through >= last);
        let is_proven = last == 0 || removals.any(|(_, (_, position))| *position <= head);
        (!is_proven).then_some(last)
    }

    fn check_tail(&mut self) {
        let last = self.found.head.seq;
        let Some(head) = self.known_head.filter(|_| !self.has_known_head) else { return };
        let (seq, other) = (head.seq, LogProblem::OtherHead { head: head.seq });
        match self.pruned.get(&seq) {
            _ if seq > last => self.report(LogProblem::TailCut { last, head: seq }),
            _ if seq >= self.found.first => self.report(other),
            Some((hash, _)) if *hash != head.hash => self.report(other),
            Some(_) => {}
            None => self.found.is_tail_checked = false,
        }
    }

    /// Records before the first one were removed only if a record says so, with the same hash. More may
    /// have been announced than is removed by now.
    fn check_start(&mut self, first: u64, prev: Option<&str>) {
        let is_known = match (first, self.pruned.get(&(first - 1))) {
            (1, _) => prev.is_none_or(|prev| prev == Head::empty().hash),
            (_, Some((hash, _))) => prev.is_none_or(|prev| prev == hash),
            (_, None) => self.pruned.keys().any(|through| *through >= first),
        };
        match first {
            _ if is_known => {}
            1 => self.report(LogProblem::Changed { position: 1 }),
            _ => self.report(LogProblem::Missing { from: 1, to: first - 1 }),
        }
    }
}

/// Whether the text has its hash, and the index the values of the text.
fn is_unchanged(line: &LogLine, record: &LogRecord) -> bool {
    let is_indexed = record.run == line.run && record.step_of_run() == line.step.as_deref();
    hash(&line.text) == line.hash && is_indexed
}

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod tests;
