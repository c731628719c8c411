//! The tickets of a lane in the order they came, and which of them are held.
//!
//! Nothing about who waits for whom is stored: it follows from the entries, see [`Queue::waits`].

mod cycle;

#[cfg(test)]
mod state;

use super::entry::{Entry, Id, State};
use std::task::Waker;

/// In order of their ids, which is the order they came.
#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: Vec<Entry>,
}

/// It would have waited for a call that waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it would wait for a call that waits for it")]
pub(crate) struct Deadlock;

impl Queue {
    /// Adds an entry at the end, and says whether it is held at once. Refused is what would wait
    /// for itself.
    ///
    /// `woken` takes the wakers of what a waiting newcomer lets pass.
    pub(super) fn join(&mut self, entry: Entry, woken: &mut Vec<Waker>) -> Result<bool, Deadlock> {
        let (newcomer, is_nested) = (self.entries.len(), !entry.ancestors.is_empty());
        self.entries.push(entry);
        if self.may_run(newcomer) {
            self.entries[newcomer].state = State::Held;
            return Ok(true);
        }
        if is_nested {
            if self.would_deadlock(newcomer) {
                self.entries.pop();
                return Err(Deadlock);
            }
            // What is above the newcomer now waits for what the newcomer waits for, and that may
            // have to let others pass.
            self.grant(woken, |entry| !entry.ancestors.is_empty());
        }
        Ok(false)
    }

    /// Removes an entry, and gives it to be dropped where no lock is held.
    pub(super) fn leave(&mut self, id: Id, woken: &mut Vec<Waker>) -> Option<Entry> {
        let index = self.index_of(id)?;
        let gone = self.entries.remove(index);
        self.grant(woken, |entry| entry.is_kept_by(&gone));
        Some(gone)
    }

    /// Whether an entry is held. If not, `waker` is exchanged for the one to be dropped.
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

    fn index_of(&self, id: Id) -> Option<usize> {
        self.entries.binary_search_by_key(&id, |entry| entry.id).ok()
    }

    /// Lets entries run that may now, of those that something changed for. One pass is enough: an entry that is
    /// held only keeps others.
    fn grant(&mut self, woken: &mut Vec<Waker>, concerns: impl Fn(&Entry) -> bool) {
        for index in 0..self.entries.len() {
            let entry = &self.entries[index];
            if !entry.is_held() && concerns(entry) && self.may_run(index) {
                let before = std::mem::replace(&mut self.entries[index].state, State::Held);
                if let State::Waiting(Some(waker)) = before {
                    woken.push(waker);
                }
            }
        }
    }

    /// Whether nothing keeps a waiting entry: nothing that is held, wherever it stands, and nothing
    /// that waits before it, unless that is to be passed.
    fn may_run(&self, index: usize) -> bool {
        let entry = &self.entries[index];
        // The first one that it waits for is enough where none is passed, and mostly in front.
        if entry.ancestors.is_empty() && (0..index).any(|other| self.queues_behind(index, other)) {
            return false;
        }
        let is_held_back = |other: &Entry| other.is_held() && entry.is_kept_by(other);
        if self.entries.iter().any(is_held_back) {
            return false;
        }
        let waits = (0..index).filter(|&other| self.queues_behind(index, other));
        let waits: Vec<usize> = waits.collect();
        waits.is_empty() || self.passes_all(index, &waits)
    }

    /// Whether `from` cannot go on before `to` did: it must not run beside it, or `to` is a call
    /// that it made.
    ///
    /// No ring of these can ever be left, so none is let arise.
    fn waits(&self, from: usize, to: usize) -> bool {
        let (from, to) = (&self.entries[from], &self.entries[to]);
        match (from.is_held(), to.is_held()) {
            (true, false) => to.is_under(from),
            (false, true) => from.is_kept_by(to),
            _ => false,
        }
    }

    /// Whether `from` waits for `to` because `to` came first. Of a ring in which there are some of
    /// these, one gives way.
    fn queues_behind(&self, from: usize, to: usize) -> bool {
        let (later, earlier) = (&self.entries[from], &self.entries[to]);
        to < from && !later.is_held() && !earlier.is_held() && later.is_kept_by(earlier)
    }
}
