//! Links a nested call to its ancestors.

use super::entry::Id;
use super::ticket::QueueEntry;
use std::any::Any;
use std::sync::{Arc, Weak};

/// A running call and its ancestors, for the context of its nested calls. Does not keep the ticket of the
/// call, which is released when its [`Held`](super::Held) is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    own: Ancestor,
    ancestors: Ancestors,
}

/// An ancestor of a call: its id, and its entry in the queue, if it has not ended.
#[derive(Clone, Debug)]
pub(super) struct Ancestor {
    id: Id,
    entry: Weak<QueueEntry>,
}

/// The ancestors, the nearest first. A flat list: a long series of calls, each started by the one before,
/// must not build a linked chain of ended calls.
pub(super) type Ancestors = Option<Arc<[Ancestor]>>;

impl Link {
    pub(super) fn new(id: Id, entry: &Arc<QueueEntry>, ancestors: &Ancestors) -> Self {
        Self { own: Ancestor { id, entry: Arc::downgrade(entry) }, ancestors: ancestors.clone() }
    }

    /// The ticket of the call, if it has not ended, as a type-erased guard.
    pub(crate) fn guard(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(self.own.entry.upgrade()?)
    }

    /// The ancestors of a nested call of this one, without ended calls.
    pub(super) fn child_ancestors(&self) -> Ancestors {
        let calls = std::iter::once(&self.own)
            .chain(self.ancestors.iter().flat_map(|ancestors| &**ancestors));
        let alive: Vec<_> = calls.filter(|call| call.is_queued()).cloned().collect();
        (!alive.is_empty()).then(|| alive.into())
    }
}

impl Ancestor {
    fn is_queued(&self) -> bool {
        self.entry.strong_count() > 0
    }
}

/// The ids of the ancestors that have not ended.
pub(super) fn ids(ancestors: &Ancestors) -> Vec<Id> {
    let ancestors = ancestors.iter().flat_map(|ancestors| &**ancestors);
    ancestors.filter(|call| call.is_queued()).map(|call| call.id).collect()
}
