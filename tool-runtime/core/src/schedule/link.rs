//! Links a call to the calls that wait for it to end.

use super::entry::Id;
use std::sync::{Arc, Weak};

/// A running call and those above it, for the context of its nested calls. It does not keep the
/// ticket: that is released when its [`Held`](super::Held) is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    own: Weak<Id>,
    above: Above,
}

/// The calls above, the nearest first. A flat list, so that calls which each start the next one and
/// end do not form a chain.
pub(super) type Above = Option<Arc<[Weak<Id>]>>;

impl Link {
    pub(super) fn new(own: &Arc<Id>, above: &Above) -> Self {
        Self { own: Arc::downgrade(own), above: above.clone() }
    }

    /// The calls above a nested call of this one: those that have not ended.
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
