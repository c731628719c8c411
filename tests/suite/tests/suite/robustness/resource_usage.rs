//! Resource usage of a server's process, before and after.

use serde::Deserialize;
use serde_json::Value;

/// Memory that the allocator may keep for itself, in KiB.
const ALLOCATOR_SLACK: u64 = 32 << 10;

#[derive(Debug, Deserialize)]
pub(super) struct ResourceUsage {
    memory: u64,
    descriptors: usize,
    tasks: usize,
}

impl ResourceUsage {
    pub(super) fn of(result: &Value) -> Self {
        Self::deserialize(&result["structuredContent"]).expect("usage")
    }

    /// Tasks that have not ended.
    pub(super) fn tasks(&self) -> usize {
        self.tasks
    }

    /// The report with fewer tasks.
    pub(super) fn fewest_tasks(self, other: Self) -> Self {
        if other.tasks < self.tasks { other } else { self }
    }

    /// Whether a process uses no more than before.
    pub(super) fn is_within(&self, now: &Self) -> bool {
        now.tasks <= self.tasks
            && now.descriptors <= self.descriptors
            && now.memory <= self.memory + ALLOCATOR_SLACK
    }
}
