//! Detects calls that wait for each other, and breaks the cycle.

use super::Queue;

impl Queue {
    /// Whether a waiting entry waits for one that waits for an ancestor of the entry: a deadlock.
    pub(super) fn would_deadlock(&self, index: usize) -> bool {
        self.ancestors(index).any(|ancestor| {
            let reaches_ancestor = self.reaching(|from, to, _| self.waits(from, to), ancestor);
            (0..index).any(|other| reaches_ancestor[other] && self.waits(index, other))
        })
    }

    /// Whether an entry passes all of `others`, which were entered before it and wait: each of them waits
    /// for an ancestor of the entry, and so for the entry.
    ///
    /// Every cycle, except one of only held calls and their nested calls, contains a call that queues behind the next
    /// one and was made by the previous one. That call passes, which breaks the cycle.
    pub(super) fn passes_all(&self, index: usize, others: &[usize]) -> bool {
        let mut not_passed = others.to_vec();
        for ancestor in self.ancestors(index) {
            let reach = self.reaching(|from, to, target| self.follows(from, to, target), ancestor);
            not_passed.retain(|&other| !reach[other]);
        }
        not_passed.is_empty()
    }

    /// Whether `from` waits for `to`, which waits for `target`. A call made by `target` does not queue
    /// behind it.
    fn follows(&self, from: usize, to: usize, target: usize) -> bool {
        let passes = || self.entries[from].is_descendant_of(&self.entries[target]);
        self.waits(from, to) || (self.queues_behind(from, to) && !passes())
    }

    /// The ancestors of an entry that are held in this queue.
    fn ancestors(&self, index: usize) -> impl Iterator<Item = usize> {
        self.entries[index].ancestors.iter().filter_map(|id| self.index_of(*id))
    }

    /// For each entry whether steps lead from it to `target`.
    fn reaching(&self, step: impl Fn(usize, usize, usize) -> bool, target: usize) -> Vec<bool> {
        let mut reach = vec![false; self.entries.len()];
        let mut open = vec![target];
        while let Some(to) = open.pop() {
            for (from, seen) in reach.iter_mut().enumerate().filter(|(_, seen)| !**seen) {
                if step(from, to, target) {
                    *seen = true;
                    open.push(from);
                }
            }
        }
        reach
    }
}
