//! Links a nested call to its ancestors.

use super::entry::Id;
use std::sync::{Arc, Weak};

/// A running call and its ancestors, for the context of its nested calls. Does not keep the ticket of the
/// call, which is released when its [`Held`](super::Held) is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    own: Weak<Id>,
    ancestors: Ancestors,
}

/// The ancestors, the nearest first. A flat list: a long series of calls, each started by the one before,
/// must not build a linked chain of ended calls.
pub(super) type Ancestors = Option<Arc<[Weak<Id>]>>;

impl Link {
    pub(super) fn new(own: &Arc<Id>, ancestors: &Ancestors) -> Self {
        Self { own: Arc::downgrade(own), ancestors: ancestors.clone() }
    }

    /// The ancestors of a nested call of this one, without ended calls.
    pub(super) fn child_ancestors(&self) -> Ancestors {
        let all = std::iter::once(&self.own)
            .chain(self.ancestors.iter().flat_map(|ancestors| &**ancestors));
        let alive: Vec<_> = all.filter(|id| id.strong_count() > 0).cloned().collect();
        (!alive.is_empty()).then(|| alive.into())
    }
}

/// The ids of the ancestors that have not ended.
pub(super) fn ids(ancestors: &Ancestors) -> Vec<Id> {
    let ancestors = ancestors.iter().flat_map(|ancestors| &**ancestors);
    ancestors.filter_map(|id| id.upgrade().map(|id| *id)).collect()
}
