//! The newest of many files, in memory for a bounded number.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use tool_runtime::__seam::lock;

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hit {
    pub(super) modified: SystemTime,
    /// Relative to the root. Files of one time are sorted by it.
    pub(super) path: Reverse<PathBuf>,
    /// Matching lines, where they are counted.
    pub(super) count: u64,
}

/// Keeps the newest files of those that threads find.
pub(super) struct Newest {
    limit: usize,
    /// The oldest of the kept files is at the top.
    kept: Mutex<BinaryHeap<Reverse<Hit>>>,
}

impl Newest {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, kept: Mutex::default() }
    }

    pub(super) fn push(&self, hit: Hit) {
        let mut kept = lock(&self.kept);
        kept.push(Reverse(hit));
        if kept.len() > self.limit {
            kept.pop();
        }
    }

    /// The files, newest first.
    pub(super) fn into_sorted(self) -> Vec<Hit> {
        let kept = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        kept.into_sorted_vec().into_iter().map(|Reverse(hit)| hit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn the_newest_are_kept_and_sorted() {
        let newest = Newest::new(3);
        for (seconds, path) in [(5, "b"), (1, "old"), (9, "new"), (5, "a"), (2, "older")] {
            let modified = UNIX_EPOCH + Duration::from_secs(seconds);
            newest.push(Hit { modified, path: Reverse(path.into()), count: 0 });
        }
        let paths: Vec<_> = newest.into_sorted().into_iter().map(|hit| hit.path.0).collect();
        assert_eq!(paths, [PathBuf::from("new"), "a".into(), "b".into()]);
    }
}
