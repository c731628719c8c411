//! The chain of hashes.

use crate::record::LogRecord;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tool_runtime_core::seam::hex;

/// The usual length of a record's text.
const TEXT: usize = 512;

/// The last record of a log: its number and its hash. Everything before it is fixed by it.
///
/// Keep it outside the reach of those who can write the log; [`LogReader::verify`](crate::LogReader::verify) finds with
/// it that the end of the log was cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The number of the record; 0 of an empty log.
    pub seq: u64,
    /// The hash of the record in hex digits; zeros of an empty log.
    pub hash: String,
}

impl Head {
    /// The head of an empty log.
    pub fn empty() -> Self {
        Self { seq: 0, hash: "0".repeat(64) }
    }
}

/// A stored record: its text and the hash of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The position in the log, from 1. Equal to the number of the record, unless somebody changed it.
    pub position: u64,
    /// The hash, as it is stored, in hex digits.
    pub hash: String,
    /// The record as JSON. See [`LogRecord`](crate::LogRecord).
    pub text: String,
    /// The run of the record, for an index.
    pub run: Option<String>,
    /// The step of the record, for an index. `None` for a step without a run, which is not looked up.
    pub step: Option<String>,
}

impl LogLine {
    /// Chains a record to the head, which becomes this record.
    pub(crate) fn chained(record: &mut LogRecord, head: &mut Head) -> Self {
        record.seq = head.seq + 1;
        record.prev = std::mem::take(&mut head.hash);
        let mut json = Vec::with_capacity(TEXT);
        serde_json::to_writer(&mut json, record).expect("strings and numbers");
        let text = String::from_utf8(json).expect("JSON is UTF-8");
        *head = Head { seq: record.seq, hash: hash(&text) };
        let (run, step) = (record.run.clone(), record.step_of_run().map(str::to_owned));
        Self { position: head.seq, hash: head.hash.clone(), text, run, step }
    }

    /// The record.
    ///
    /// # Errors
    /// The text is not a record.
    pub fn record(&self) -> Result<LogRecord, serde_json::Error> {
        serde_json::from_str(&self.text)
    }

    pub(crate) fn head(&self) -> Head {
        Head { seq: self.position, hash: self.hash.clone() }
    }
}

/// The hash of a record's text, which holds the hash of the record before it.
pub(crate) fn hash(text: &str) -> String {
    hex(&Sha256::digest(text))
}
