//! Records and blobs in memory.

use super::{Kept, RecordStore, Stored};
use crate::board::{BoardError, Swap};
use crate::names::{CallerName, StepKey};
use crate::payload::BlobRef;
use crate::record::{Record, Revised, Revision};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::Instant;
use tool_runtime_core::BoxFuture;
use tool_runtime_core::seam::lock;

/// The number of writes after which expired records are removed.
const SWEEP: usize = 1024;

/// How long blobs are kept.
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
    kept: Kept,
    expires: Instant,
}

impl Contents {
    fn current(&self, step: &StepKey) -> Option<&Kept> {
        let entry = self.steps.get(step)?;
        (entry.expires > Instant::now()).then_some(&entry.kept)
    }

    fn swap(
        &mut self,
        (step, record): (&StepKey, &Record),
        expected: Revision,
        keep: Duration,
        owner: Option<&CallerName>,
    ) -> Stored {
        let current = self.current(step).cloned();
        let owner = current.as_ref().and_then(|kept| kept.owner.as_ref()).or(owner).cloned();
        let present = current.map(|kept| kept.revised);
        let revision = present.as_ref().map_or(Revision::NONE, |revised| revised.revision);
        if revision != expected {
            return Stored { swap: Swap::Conflict(present), owner };
        }
        let revision = Revision(revision.0 + 1);
        let revised = Revised { record: record.clone(), revision };
        let kept = Kept { revised, owner: owner.clone() };
        self.steps.insert(step.clone(), Entry { kept, expires: Instant::now() + keep });
        self.sweep();
        Stored { swap: Swap::Written(revision), owner }
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
    fn read<'a>(&'a self, step: &'a StepKey) -> BoxFuture<'a, Result<Option<Kept>, BoardError>> {
        Box::pin(async move { Ok(lock(&self.0).current(step).cloned()) })
    }

    fn swap<'a>(
        &'a self,
        step: &'a StepKey,
        record: &'a Record,
        expected: Revision,
        keep: Duration,
        owner: Option<&'a CallerName>,
    ) -> BoxFuture<'a, Result<Stored, BoardError>> {
        Box::pin(async move { Ok(lock(&self.0).swap((step, record), expected, keep, owner)) })
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
}
