//! Links a call to the calls that wait for it to end.

use super::entry::Id;
use std::sync::{Arc, Weak};

/// A call that runs and those above it, for the context of the calls that it makes. Holds
/// nothing back: the ticket is released when its [`Held`](super::Held) is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    own: Weak<Id>,
    above: Above,
}

/// The calls above, the nearest first. Flat, so that a call which makes one like itself and ends,
/// over and over, leaves no chain.
pub(super) type Above = Option<Arc<[Weak<Id>]>>;

impl Link {
    pub(super) fn new(own: &Arc<Id>, above: &Above) -> Self {
        Self { own: Arc::downgrade(own), above: above.clone() }
    }

    /// The calls above one that is made under this one: those that have not ended.
    pub(super) fn to_above(&self) -> Above {
        let all = std::iter::once(&self.own).chain(self.above.iter().flat_map(|above| &**above));
        let alive: Vec<_> = all.filter(|id| id.strong_count() > 0).cloned().collect();
        (!alive.is_empty()).then(|| alive.into())
    }
}

/// The ids of those that have not ended.
pub(super) fn ids(above: &Above) -> Vec<Id> {
    let above = above.iter().flat_map(|above| &**above);
    above.filter_map(|id| id.upgrade().map(|id| *id)).collect()
}
