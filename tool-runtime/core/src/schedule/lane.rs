//! The queue that is shared, behind its lock.

use super::entry::{Entry, Id};
use super::link::{self, Link};
use super::queue::Queue;
use super::ticket::{Place, Ticket};
use crate::access::Claim;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Where calls queue. Clones are the same lane.
///
/// Wakers are woken and dropped after the lock is released: both may run what enters or leaves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane(Arc<Mutex<Queue>>);

impl Lane {
    /// Takes a place in the lane at once. `parent` is the call that makes this one, if a call does.
    pub(crate) fn enter(&self, claim: Claim, parent: Option<&Link>) -> Ticket {
        let above = parent.and_then(Link::to_above);
        let ancestors = link::ids(&above);
        let mut woken = Vec::new();
        let (id, outcome) = {
            let mut queue = self.lock();
            // Under the lock: the order of ids is the order of entries.
            let id = Id::next();
            (id, queue.join(Entry::waiting(id, ancestors, claim), &mut woken))
        };
        let outcome = outcome.map(|is_held| (Place::new(self.clone(), id, above), is_held));
        wake(woken);
        Ticket::new(outcome)
    }

    /// Ready when the entry is held.
    pub(super) fn poll(&self, id: Id, context: &mut Context<'_>) -> Poll<()> {
        let mut waker = Some(context.waker().clone());
        let is_held = self.lock().is_held(id, &mut waker);
        if is_held { Poll::Ready(()) } else { Poll::Pending }
    }

    pub(super) fn leave(&self, id: Id) {
        let mut woken = Vec::new();
        let gone = self.lock().leave(id, &mut woken);
        wake(woken);
        drop(gone);
    }

    /// No state in between is left behind by a panic: what panics is not run under the lock.
    pub(super) fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wake(woken: Vec<Waker>) {
    woken.into_iter().for_each(Waker::wake);
}
