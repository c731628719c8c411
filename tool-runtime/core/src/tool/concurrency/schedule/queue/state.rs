//! The state of a queue, for tests.

use super::Queue;
use crate::tool::concurrency::schedule::entry::{Entry, Id};

impl Queue {
    pub(in crate::tool::concurrency::schedule) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(in crate::tool::concurrency::schedule) fn is_granted(&self, id: Id) -> bool {
        self.index_of(id).is_some_and(|index| Entry::is_held(&self.entries[index]))
    }
}
