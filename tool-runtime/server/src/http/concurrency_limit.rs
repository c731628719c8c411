//! Limits requests in flight, in total and per principal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tool_runtime_core::seam::lock;
use tool_runtime_core::vocabulary::Principal;

/// Limits the concurrent requests, or sessions, in total and per principal.
pub(super) struct ConcurrencyLimit {
    free: Arc<Semaphore>,
    limit: usize,
    principal_limit: usize,
    /// Permits of each principal, by id.
    counts: Mutex<HashMap<String, usize>>,
}

/// One slot, until dropped.
pub(super) struct Permit {
    _slot: OwnedSemaphorePermit,
    _share: Option<Share>,
}

/// The limit that a request would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitReached {
    /// The limit in total.
    Total(usize),
    /// The limit of one principal.
    Principal(usize),
}

impl ConcurrencyLimit {
    /// A limit in total and per principal. Default per principal: half.
    pub(super) fn new(limit: usize, principal_limit: Option<usize>) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(limit.min(Semaphore::MAX_PERMITS))),
            limit,
            principal_limit: principal_limit.unwrap_or(limit.div_ceil(2)),
            counts: Mutex::default(),
        })
    }

    /// # Errors
    /// A limit is reached.
    pub(super) fn take(
        self: &Arc<Self>,
        principal: &Arc<Principal>,
    ) -> Result<Permit, LimitReached> {
        let share = self.share(principal)?;
        let slot = Arc::clone(&self.free).try_acquire_owned();
        let slot = slot.map_err(|_| LimitReached::Total(self.limit))?;
        Ok(Permit { _slot: slot, _share: share })
    }

    /// Anonymous clients are indistinguishable, so no per-principal limit applies.
    fn share(self: &Arc<Self>, principal: &Arc<Principal>) -> Result<Option<Share>, LimitReached> {
        if principal.is_anonymous() {
            return Ok(None);
        }
        let mut counts = self.counts();
        if counts.get(principal.id()).copied().unwrap_or(0) >= self.principal_limit {
            return Err(LimitReached::Principal(self.principal_limit));
        }
        *counts.entry(principal.id().to_owned()).or_default() += 1;
        Ok(Some(Share { limit: Arc::clone(self), principal: Arc::clone(principal) }))
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        lock(&self.counts)
    }
}

/// One slot of a principal.
struct Share {
    limit: Arc<ConcurrencyLimit>,
    principal: Arc<Principal>,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut counts = self.limit.counts();
        if let Some(count) = counts.get_mut(self.principal.id()) {
            *count -= 1;
            if *count == 0 {
                counts.remove(self.principal.id());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_is_limited_to_its_share() {
        let limit = ConcurrencyLimit::new(3, None);
        let [ada, bob, anonymous] = ["ada", "bob", ""].map(|id| Arc::new(Principal::new(id)));
        let first = limit.take(&ada).ok();
        let second = limit.take(&ada).ok();
        assert_eq!(limit.take(&ada).err(), Some(LimitReached::Principal(2)));
        let third = limit.take(&bob).ok();
        assert!(second.is_some() && third.is_some());
        assert_eq!(limit.take(&bob).err(), Some(LimitReached::Total(3)));
        drop((first, second));
        let fourth = limit.take(&anonymous).ok();
        assert!(fourth.is_some() && limit.take(&anonymous).is_ok());
        drop((third, fourth));
        assert!(limit.counts().is_empty());
    }

    #[test]
    fn a_share_of_zero_rejects_every_principal() {
        let limit = ConcurrencyLimit::new(3, Some(0));
        assert_eq!(
            limit.take(&Arc::new(Principal::new("ada"))).err(),
            Some(LimitReached::Principal(0))
        );
        assert!(limit.take(&Arc::default()).is_ok());
    }
}
