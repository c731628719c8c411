//! Invariants of every state, computed without the queue's own algorithm.

use super::simulation::Simulation;

impl Simulation {
    /// Checked after each step, when all woken calls were polled.
    pub(super) fn check(&self) {
        let live = self.select(|simulation, index| !simulation.calls[index].is_finished());
        let (granted, waiting): (Vec<_>, Vec<_>) =
            live.iter().partition(|&&index| self.is_granted(index));
        for (position, &one) in granted.iter().enumerate() {
            let beside = granted[..position].iter().find(|&&other| self.clash(one, other));
            assert_eq!(beside, None, "runs at once with {one}");
        }
        for one in waiting {
            let is_kept = live.iter().any(|&other| other != one && self.clash(one, other));
            assert!(is_kept, "{one} waits for no other call");
        }
    }

    /// The earlier of two root calls goes first.
    pub(super) fn check_order(&self, granted: usize) {
        let is_root = |index: usize| self.calls[index].parent.is_none();
        let is_before = |&earlier: &usize| {
            is_root(earlier) && self.calls[earlier].is_waiting() && self.clash(earlier, granted)
        };
        let passed = (0..granted).filter(|_| is_root(granted)).find(is_before);
        assert_eq!(passed, None, "{granted} went before an earlier one");
    }

    /// Whether the call could never run in any order: ends all calls that can run, and checks whether
    /// it is left.
    pub(super) fn would_never_run(&self, index: usize) -> bool {
        let mut unfinished =
            self.select(|simulation, index| !simulation.calls[index].is_finished());
        while let Some(position) =
            unfinished.iter().position(|&one| self.can_finish(one, &unfinished))
        {
            unfinished.remove(position);
        }
        unfinished.contains(&index)
    }

    fn can_finish(&self, one: usize, left: &[usize]) -> bool {
        left.iter().filter(|&&other| other != one).all(|&other| {
            let is_blocking = self.is_granted(other) && self.clash(one, other);
            if self.is_granted(one) { !self.is_descendant_of(other, one) } else { !is_blocking }
        })
    }

    /// Whether two calls must not run concurrently: they conflict, and neither is an ancestor of
    /// the other.
    fn clash(&self, one: usize, other: usize) -> bool {
        let is_related = self.is_descendant_of(one, other) || self.is_descendant_of(other, one);
        !is_related && self.calls[one].claim.conflicts_with(&self.calls[other].claim)
    }
}
