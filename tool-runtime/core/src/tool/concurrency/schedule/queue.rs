//! The tickets of a queue in order of arrival, and which of them are held.
//!
//! Dependencies between entries are not stored but computed from the entries, see [`Queue::waits`].

mod cycle;

#[cfg(test)]
mod state;

use super::entry::{Entry, Id, State};
use std::collections::VecDeque;
use std::task::Waker;

/// In order of their ids, which is the order of arrival and mostly that of leaving.
#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: VecDeque<Entry>,
    /// The number of entries that may write. Without one, entries that only read need no comparison.
    writers: usize,
    /// The number of entries that wait.
    waiting: usize,
}

/// The call and another one would wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it would wait for a call that waits for it")]
pub(crate) struct Deadlock;

impl Queue {
    /// Adds an entry at the end, and returns whether it is held immediately. An entry that would
    /// deadlock is rejected.
    ///
    /// `woken` collects the wakers of entries that may pass a waiting entry.
    pub(super) fn join(&mut self, entry: Entry, woken: &mut Vec<Waker>) -> Result<bool, Deadlock> {
        let (newcomer, is_nested) = (self.entries.len(), !entry.ancestors.is_empty());
        self.writers += usize::from(!entry.claim.only_reads());
        self.waiting += 1;
        self.entries.push_back(entry);
        if self.may_run(newcomer) {
            self.hold(newcomer);
            return Ok(true);
        }
        if is_nested {
            if self.would_deadlock(newcomer) {
                self.remove(newcomer);
                return Err(Deadlock);
            }
            // The ancestors of the new call now wait for the same calls, so that others may have
            // to pass.
            self.grant(woken, |entry| !entry.ancestors.is_empty());
        }
        Ok(false)
    }

    /// Removes an entry, for the caller to drop after unlocking.
    pub(super) fn leave(&mut self, id: Id, woken: &mut Vec<Waker>) -> Option<Entry> {
        let gone = self.remove(self.index_of(id)?)?;
        self.grant(woken, |entry| entry.conflicts_with(&gone));
        Some(gone)
    }

    /// Whether an entry is held. If not, `waker` is swapped with the old one, for the caller to drop.
    pub(super) fn is_held(&mut self, id: Id, waker: &mut Option<Waker>) -> bool {
        let Some(index) = self.index_of(id) else { return false };
        match &mut self.entries[index].state {
            State::Held => true,
            State::Waiting(stored) => {
                std::mem::swap(stored, waker);
                false
            }
        }
    }

    fn hold(&mut self, index: usize) -> State {
        self.waiting -= 1;
        std::mem::replace(&mut self.entries[index].state, State::Held)
    }

    fn remove(&mut self, index: usize) -> Option<Entry> {
        let gone = self.entries.remove(index)?;
        self.writers -= usize::from(!gone.claim.only_reads());
        self.waiting -= usize::from(!gone.is_held());
        Some(gone)
    }

    fn index_of(&self, id: Id) -> Option<usize> {
        self.entries.binary_search_by_key(&id, |entry| entry.id).ok()
    }

    /// Grants the entries that may run after a change. One pass is enough: a granted entry only delays others.
    fn grant(&mut self, woken: &mut Vec<Waker>, concerns: impl Fn(&Entry) -> bool) {
        if self.waiting == 0 {
            return;
        }
        for index in 0..self.entries.len() {
            let entry = &self.entries[index];
            if !entry.is_held()
                && concerns(entry)
                && self.may_run(index)
                && let State::Waiting(Some(waker)) = self.hold(index)
            {
                woken.push(waker);
            }
        }
    }

    /// Whether nothing delays a waiting entry: no held entry, and no waiting entry before it,
    /// unless it passes that entry.
    fn may_run(&self, index: usize) -> bool {
        let entry = &self.entries[index];
        if self.writers == 0 {
            return true;
        }
        let is_blocking = |other: &Entry| other.is_held() && entry.conflicts_with(other);
        let mut waits = (0..index).filter(|&other| self.queues_behind(index, other));
        if entry.ancestors.is_empty() {
            // Other calls are not passed. One entry to wait for is enough, and is usually at the front.
            return waits.next().is_none() && !self.entries.iter().any(is_blocking);
        }
        if self.entries.iter().any(is_blocking) {
            return false;
        }
        let waits: Vec<usize> = waits.collect();
        waits.is_empty() || self.passes_all(index, &waits)
    }

    /// Whether `from` cannot continue before `to` ends: they conflict, or `to` is a nested call of
    /// `from`.
    ///
    /// A cycle of these never ends, so none may arise.
    fn waits(&self, from: usize, to: usize) -> bool {
        let (from, to) = (&self.entries[from], &self.entries[to]);
        match (from.is_held(), to.is_held()) {
            (true, false) => to.is_descendant_of(from),
            (false, true) => from.conflicts_with(to),
            _ => false,
        }
    }

    /// Whether `from` waits for `to` because `to` was entered first. A cycle with such an edge is broken
    /// there.
    fn queues_behind(&self, from: usize, to: usize) -> bool {
        let (later, earlier) = (&self.entries[from], &self.entries[to]);
        to < from && !later.is_held() && !earlier.is_held() && later.conflicts_with(earlier)
    }
}
