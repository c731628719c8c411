//! Links a nested call to its ancestors.

use super::entry::Id;
use super::ticket::Place;
use std::sync::{Arc, Weak};

/// A running call and its ancestors, for the context of its nested calls. Does not keep the ticket of the
/// call, which is released when its [`Held`](super::Held) is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    own: Ancestor,
    ancestors: Ancestors,
}

/// An ancestor of a call: its id, and whether it still has its place.
#[derive(Clone, Debug)]
pub(super) struct Ancestor {
    id: Id,
    place: Weak<Place>,
}

/// The ancestors, the nearest first. A flat list: a long series of calls, each started by the one before,
/// must not build a linked chain of ended calls.
pub(super) type Ancestors = Option<Arc<[Ancestor]>>;

impl Link {
    pub(super) fn new(id: Id, place: &Arc<Place>, ancestors: &Ancestors) -> Self {
        Self { own: Ancestor { id, place: Arc::downgrade(place) }, ancestors: ancestors.clone() }
    }

    /// The ancestors of a nested call of this one, without ended calls.
    pub(super) fn child_ancestors(&self) -> Ancestors {
        let all = std::iter::once(&self.own)
            .chain(self.ancestors.iter().flat_map(|ancestors| &**ancestors));
        let alive: Vec<_> = all.filter(|call| call.has_place()).cloned().collect();
        (!alive.is_empty()).then(|| alive.into())
    }
}

impl Ancestor {
    fn has_place(&self) -> bool {
        self.place.strong_count() > 0
    }
}

/// The ids of the ancestors that have not ended.
pub(super) fn ids(ancestors: &Ancestors) -> Vec<Id> {
    let ancestors = ancestors.iter().flat_map(|ancestors| &**ancestors);
    ancestors.filter(|call| call.has_place()).map(|call| call.id).collect()
}
