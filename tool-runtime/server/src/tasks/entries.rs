//! The tasks of a server by their ids.

use super::entry::Entry;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use tokio::time::Instant;
use tool_runtime_core::seam::lock;

/// All tasks whose time is not over.
#[derive(Default)]
pub(super) struct Entries(Mutex<BTreeMap<String, Entry>>);

impl Entries {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        let mut entries = lock(&self.0);
        let now = Instant::now();
        entries.retain(|_, entry| entry.expiry() > now);
        entries
    }

    /// Changes a task, if it is still there.
    pub(super) fn change<T>(&self, id: &str, change: impl FnOnce(&mut Entry) -> T) -> Option<T> {
        self.lock().get_mut(id).map(change)
    }
}
