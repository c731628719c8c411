//! One ticket in the queue.

use crate::tool::concurrency::access::Claim;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

/// A ticket's id, unique in the process: a call may hold tickets of several queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id(u64);

impl Id {
    /// Greater than every one before it.
    pub(super) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: Id,
    /// The tickets of its ancestors; some may have ended.
    pub(super) ancestors: Vec<Id>,
    pub(super) claim: Claim,
    pub(super) state: State,
}

#[derive(Debug)]
pub(super) enum State {
    /// With the waker, once it was polled.
    Waiting(Option<Waker>),
    Held,
}

impl Entry {
    pub(super) fn waiting(id: Id, ancestors: Vec<Id>, claim: Claim) -> Self {
        Self { id, ancestors, claim, state: State::Waiting(None) }
    }

    pub(super) fn is_held(&self) -> bool {
        matches!(self.state, State::Held)
    }

    pub(super) fn is_descendant_of(&self, other: &Self) -> bool {
        self.ancestors.contains(&other.id)
    }

    /// Whether the entry conflicts with another one. An ancestor waits for its call, so the two never conflict.
    pub(super) fn conflicts_with(&self, other: &Self) -> bool {
        self.claim.conflicts_with(&other.claim) && !self.is_descendant_of(other)
    }
}
