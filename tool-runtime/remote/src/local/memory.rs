//! Records and blobs in memory.

use super::RecordStore;
use crate::board::{BoardError, Swap};
use crate::names::StepKey;
use crate::payload::BlobRef;
use crate::record::{Record, Revised, Revision};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::Instant;
use tool_runtime_core::seam::lock;
use tool_runtime_core::vocabulary::BoxFuture;

/// The number of writes after which expired records are removed.
const SWEEP: usize = 1024;

/// The time for which blobs are kept.
pub(crate) const BLOB_TTL: Duration = Duration::from_secs(24 * 3600);

/// Records and blobs in memory: for tests, and for callers and runners of one process.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Contents>);

#[derive(Debug, Default)]
struct Contents {
    steps: HashMap<StepKey, Entry>,
    blobs: HashMap<BlobRef, (Bytes, Instant)>,
    writes: usize,
}

#[derive(Debug)]
struct Entry {
    revised: Revised,
    expires: Instant,
}

impl Contents {
    fn current(&self, step: &StepKey) -> Option<&Revised> {
        let entry = self.steps.get(step)?;
        (entry.expires > Instant::now()).then_some(&entry.revised)
    }

    fn swap(
        &mut self,
        step: &StepKey,
        record: &Record,
        expected: Revision,
        keep: Duration,
    ) -> Swap {
        let present = self.current(step);
        let revision = present.map_or(Revision::NONE, |revised| revised.revision);
        if revision != expected {
            return Swap::Conflict(present.cloned());
        }
        let revision = Revision(revision.0 + 1);
        let revised = Revised { record: record.clone(), revision };
        self.steps.insert(step.clone(), Entry { revised, expires: Instant::now() + keep });
        self.sweep();
        Swap::Written(revision)
    }

    fn sweep(&mut self) {
        self.writes += 1;
        if self.writes.is_multiple_of(SWEEP) {
            let now = Instant::now();
            self.steps.retain(|_, entry| entry.expires > now);
            self.blobs.retain(|_, (_, expires)| *expires > now);
        }
    }
}

impl RecordStore for MemoryStore {
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Revised>, BoardError>> {
        Box::pin(async move { Ok(lock(&self.0).current(step).cloned()) })
    }

    fn swap<'a>(
        &'a self,
        step: &'a StepKey,
        record: &'a Record,
        expected: Revision,
        keep: Duration,
    ) -> BoxFuture<'a, Result<Swap, BoardError>> {
        Box::pin(async move { Ok(lock(&self.0).swap(step, record, expected, keep)) })
    }

    fn put(&self, blob: BlobRef, bytes: Bytes) -> BoxFuture<'_, Result<(), BoardError>> {
        Box::pin(async move {
            let mut contents = lock(&self.0);
            contents.blobs.insert(blob, (bytes, Instant::now() + BLOB_TTL));
            contents.sweep();
            Ok(())
        })
    }

    fn get<'a>(&'a self, blob: &'a BlobRef) -> BoxFuture<'a, Result<Bytes, BoardError>> {
        Box::pin(async move {
            let contents = lock(&self.0);
            let bytes = contents.blobs.get(blob).map(|(bytes, _)| bytes.clone());
            bytes.ok_or_else(|| BoardError::NoBlob(blob.sha256.to_string()))
        })
    }

    fn problem(&self) -> Option<String> {
        None
    }
}
