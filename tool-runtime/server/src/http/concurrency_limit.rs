//! Limits requests in flight, in total and per principal.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tool_runtime_core::Principal;
use tool_runtime_core::seam::lock;

/// Places for whoever asks.
pub(super) struct ConcurrencyLimit {
    free: Arc<Semaphore>,
    most: usize,
    /// How many one principal may have.
    share: usize,
    /// How many each has, by their ids.
    taken: Mutex<HashMap<String, usize>>,
}

/// One place, until it is dropped.
pub(super) struct Permit {
    _place: OwnedSemaphorePermit,
    _share: Option<Share>,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// All of so many are taken.
    All(usize),
    /// Whoever asks has so many, which is as many as one may have.
    Share(usize),
}

impl ConcurrencyLimit {
    /// So many places. One principal may have half of them if nothing else is said.
    pub(super) fn new(most: usize, share: Option<usize>) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS))),
            most,
            share: share.unwrap_or(most.div_ceil(2)),
            taken: Mutex::default(),
        })
    }

    /// # Errors
    /// There is none, for this principal or for anybody.
    pub(super) fn take(self: &Arc<Self>, who: &Arc<Principal>) -> Result<Permit, NoPlace> {
        let share = self.share(who)?;
        let place = Arc::clone(&self.free).try_acquire_owned();
        let place = place.map_err(|_| NoPlace::All(self.most))?;
        Ok(Permit { _place: place, _share: share })
    }

    /// Those whom nobody knows have no share: they cannot be told apart.
    fn share(self: &Arc<Self>, who: &Arc<Principal>) -> Result<Option<Share>, NoPlace> {
        if who.is_anonymous() {
            return Ok(None);
        }
        let mut taken = self.taken();
        if taken.get(who.id()).is_some_and(|count| *count >= self.share) || self.share == 0 {
            return Err(NoPlace::Share(self.share));
        }
        *taken.entry(who.id().to_owned()).or_default() += 1;
        Ok(Some(Share { limit: Arc::clone(self), who: Arc::clone(who) }))
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        lock(&self.taken)
    }
}

/// One of somebody's places.
struct Share {
    limit: Arc<ConcurrencyLimit>,
    who: Arc<Principal>,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.limit.taken();
        if let Some(count) = taken.get_mut(self.who.id()) {
            *count -= 1;
            if *count == 0 {
                taken.remove(self.who.id());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_takes_a_share_and_others_the_rest() {
        let limit = ConcurrencyLimit::new(3, None);
        let [ada, bob, nobody] = ["ada", "bob", ""].map(|id| Arc::new(Principal::new(id)));
        let first = limit.take(&ada).ok();
        let second = limit.take(&ada).ok();
        assert_eq!(limit.take(&ada).err(), Some(NoPlace::Share(2)));
        let third = limit.take(&bob).ok();
        assert!(second.is_some() && third.is_some());
        assert_eq!(limit.take(&bob).err(), Some(NoPlace::All(3)));
        drop((first, second));
        let fourth = limit.take(&nobody).ok();
        assert!(fourth.is_some() && limit.take(&nobody).is_ok());
        drop((third, fourth));
        assert!(limit.taken().is_empty());
    }

    #[test]
    fn without_a_share_nobody_who_is_known_gets_in() {
        let limit = ConcurrencyLimit::new(3, Some(0));
        assert_eq!(limit.take(&Arc::new(Principal::new("ada"))).err(), Some(NoPlace::Share(0)));
        assert!(limit.take(&Arc::default()).is_ok());
    }
}
