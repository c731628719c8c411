//! A shared queue.

use super::entry::Id;
use super::queue::Queue;
use crate::vocabulary::sync::lock;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// A queue of calls. Clones share the queue.
///
/// Wakers are woken and dropped after the lock is released: both may run code that enters or leaves the queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedQueue(Arc<Mutex<Queue>>);

impl SharedQueue {
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

    /// A poisoned lock is ignored: no user code runs under it.
    pub(super) fn lock(&self) -> MutexGuard<'_, Queue> {
        lock(&self.0)
    }
}

pub(super) fn wake(woken: Vec<Waker>) {
    woken.into_iter().for_each(Waker::wake);
}
