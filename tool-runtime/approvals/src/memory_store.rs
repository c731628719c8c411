//! Questions in memory.

use crate::remembered::RememberedApproval;
use crate::store::{
    ApprovalAnswer, ApprovalStore, PendingApproval, StoreError, StoredApproval, now, outdated,
};
use std::collections::{BTreeMap, VecDeque};
use std::future::ready;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tool_runtime_core::seam::lock;
use tool_runtime_core::vocabulary::BoxFuture;

/// Limit on the questions that are open at once.
pub(crate) const MAX_OPEN: usize = 1000;

/// Limit on the approvals that are remembered. The oldest is forgotten when there are more.
pub(crate) const MAX_REMEMBERED: usize = 1000;

/// Questions in memory, for an inbox in the same process. Clones share them.
///
/// ```
/// use tool_runtime::approvals::{ApprovalStore, MemoryStore};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = MemoryStore::new();
/// assert!(store.list().await.unwrap().is_empty());
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct MemoryStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    all: Mutex<BTreeMap<String, StoredApproval>>,
    remembered: Mutex<VecDeque<RememberedApproval>>,
    changes: watch::Sender<()>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        let changes = watch::Sender::new(());
        Self(Arc::new(Inner { all: Mutex::default(), remembered: Mutex::default(), changes }))
    }

    fn opened(&self, request: PendingApproval) -> Result<StoredApproval, StoreError> {
        let mut all = lock(&self.0.all);
        let outdated: Vec<_> = outdated(all.values()).into_iter().map(str::to_owned).collect();
        outdated.iter().for_each(|id| drop(all.remove(id)));
        if let Some(known) = all.get(&request.id)
            && (known.answer.is_some() || known.is_open())
        {
            return Ok(known.clone());
        }
        let open = all.values().filter(|stored| stored.is_open()).count();
        if open >= MAX_OPEN {
            return Err(StoreError::Full(MAX_OPEN));
        }
        let stored = StoredApproval::open(request);
        all.insert(stored.request.id.clone(), stored.clone());
        drop(all);
        self.0.changes.send_replace(());
        Ok(stored)
    }

    fn answered(&self, id: &str, answer: ApprovalAnswer) -> Result<(), StoreError> {
        let mut all = lock(&self.0.all);
        let stored = all.get_mut(id).ok_or_else(|| StoreError::Unknown(id.to_owned()))?;
        stored.check(&answer)?;
        stored.answer = Some(answer);
        stored.answered_at = Some(now());
        drop(all);
        self.0.changes.send_replace(());
        Ok(())
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl ApprovalStore for MemoryStore {
    fn open(&self, request: PendingApproval) -> BoxFuture<'_, Result<StoredApproval, StoreError>> {
        Box::pin(ready(self.opened(request)))
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<StoredApproval>, StoreError>> {
        Box::pin(ready(Ok(lock(&self.0.all).get(id).cloned())))
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<StoredApproval>, StoreError>> {
        let mut all: Vec<_> = lock(&self.0.all).values().cloned().collect();
        all.sort_by_key(|stored| stored.request.asked_at);
        Box::pin(ready(Ok(all)))
    }

    fn answer<'a>(
        &'a self,
        id: &'a str,
        answer: ApprovalAnswer,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(ready(self.answered(id, answer)))
    }

    fn expire<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredApproval>, StoreError>> {
        let mut all = lock(&self.0.all);
        let stored = all.get_mut(id).map(|stored| {
            stored.is_expired = stored.answer.is_none();
            stored.clone()
        });
        Box::pin(ready(Ok(stored)))
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        lock(&self.0.all).remove(id);
        self.0.changes.send_replace(());
        Box::pin(ready(Ok(())))
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        // Subscribed now: a change before the first poll is seen.
        let mut changes = self.0.changes.subscribe();
        Box::pin(async move { drop(changes.changed().await) })
    }

    fn remember(&self, approval: RememberedApproval) -> BoxFuture<'_, Result<(), StoreError>> {
        let mut remembered = lock(&self.0.remembered);
        remembered.retain(|approval| !approval.time_left().is_zero());
        remembered.push_back(approval);
        if remembered.len() > MAX_REMEMBERED {
            remembered.pop_front();
        }
        Box::pin(ready(Ok(())))
    }

    fn remembered(&self) -> BoxFuture<'_, Result<Vec<RememberedApproval>, StoreError>> {
        let mut remembered: Vec<_> = lock(&self.0.remembered).iter().cloned().collect();
        remembered.retain(|approval| !approval.time_left().is_zero());
        Box::pin(ready(Ok(remembered)))
    }

    fn forget<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut remembered = lock(&self.0.remembered);
        let position = remembered.iter().position(|approval| approval.id == id);
        let found = position.and_then(|position| remembered.remove(position));
        let unknown = || StoreError::NotRemembered(id.to_owned());
        Box::pin(ready(found.map(drop).ok_or_else(unknown)))
    }

    fn is_shared(&self) -> bool {
        false
    }
}
