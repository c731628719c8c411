//! A position in a queue. A ticket waits, becomes held, and leaves the queue when it is dropped.

use super::entry::{Entry, Id};
use super::link::{self, Ancestors, Link};
use super::queue::Deadlock;
use super::shared_queue::{SharedQueue, wake};
use crate::tool::concurrency::access::Claim;
use std::any::Any;
use std::future::poll_fn;
use std::sync::Arc;

/// A position in a queue, which may have to wait.
#[must_use = "dropping a ticket leaves the queue"]
#[derive(Debug)]
pub(crate) struct Ticket {
    entry: Result<Arc<QueueEntry>, Deadlock>,
    is_held: bool,
}

/// A ticket that holds its resources until it is dropped. Never cloned.
#[must_use = "dropping it ends the turn"]
#[derive(Debug)]
pub(crate) struct Held(Arc<QueueEntry>);

impl SharedQueue {
    /// Enters the queue immediately. `parent` is the calling call, if any.
    pub(crate) fn enter(&self, claim: Claim, parent: Option<&Link>) -> Ticket {
        let ancestors = parent.and_then(Link::child_ancestors);
        let ids = link::ids(&ancestors);
        let mut woken = Vec::new();
        let (id, outcome) = {
            let mut queue = self.lock();
            // Under the lock: the order of ids is the order of entries.
            let id = Id::next();
            (id, queue.join(Entry::waiting(id, ids, claim), &mut woken))
        };
        let is_held = outcome.is_ok_and(|is_held| is_held);
        let entry = outcome.map(|_| Arc::new(QueueEntry { queue: self.clone(), id, ancestors }));
        wake(woken);
        Ticket { entry, is_held }
    }
}

impl Ticket {
    /// The held ticket, if its resources are free.
    ///
    /// # Errors
    /// The ticket, which has to wait.
    pub(crate) fn held(self) -> Result<Held, Self> {
        match self.entry {
            Ok(entry) if self.is_held => Ok(Held(entry)),
            entry => Err(Self { entry, is_held: false }),
        }
    }

    /// Waits until no earlier ticket conflicts with this one.
    ///
    /// # Errors
    /// The call would wait for its own parent. A call without a parent never fails.
    pub(crate) async fn ready(self) -> Result<Held, Deadlock> {
        let entry = self.entry?;
        if !self.is_held {
            poll_fn(|context| entry.queue.poll(entry.id, context)).await;
        }
        Ok(Held(entry))
    }

    #[cfg(test)]
    pub(super) fn id(&self) -> Result<Id, Deadlock> {
        self.entry.as_ref().map(|entry| entry.id).map_err(|deadlock| *deadlock)
    }
}

impl Held {
    /// The link for the context of nested calls.
    pub(crate) fn link(&self) -> Link {
        Link::new(self.0.id, &self.0, &self.0.ancestors)
    }

    /// The ticket as a type-erased guard.
    pub(crate) fn into_guard(self) -> Arc<dyn Any + Send + Sync> {
        self.0
    }
}

/// An entry of a queue, which is removed with it.
#[derive(Debug)]
pub(super) struct QueueEntry {
    queue: SharedQueue,
    id: Id,
    ancestors: Ancestors,
}

impl Drop for QueueEntry {
    fn drop(&mut self) {
        self.queue.leave(self.id);
    }
}
