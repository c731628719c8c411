//! Limits the number and the bytes of bodies that are still arriving. They do not count as requests in
//! flight.
//!
//! tower-http limits single bodies only: slow senders would take all permits and much memory
//! (`incomplete_messages_do_not_block_others`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::lock;

/// All bodies that are still arriving.
pub(super) struct PendingBodies {
    limit: usize,
    byte_limit: usize,
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    next: u64,
    /// Received bytes of all bodies.
    bytes: usize,
    /// In the order of their start.
    bodies: BTreeMap<u64, Entry>,
}

struct Entry {
    bytes: usize,
    dropped: CancellationToken,
}

/// One arriving body, until dropped.
pub(super) struct PendingBody {
    all: Arc<PendingBodies>,
    id: u64,
    dropped: CancellationToken,
}

impl PendingBodies {
    pub(super) fn new(limit: usize, byte_limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, byte_limit, pending: Mutex::default() })
    }

    /// Adds a body of which some bytes have arrived. Beyond the limits the oldest are dropped.
    pub(super) fn add(self: &Arc<Self>, bytes: usize) -> PendingBody {
        let dropped = CancellationToken::new();
        let mut pending = self.pending();
        let id = pending.next;
        pending.next += 1;
        pending.bytes += bytes;
        pending.bodies.insert(id, Entry { bytes, dropped: dropped.clone() });
        self.give_up(&mut pending);
        PendingBody { all: Arc::clone(self), id, dropped }
    }

    fn give_up(&self, pending: &mut Pending) {
        while pending.bodies.len() > self.limit || pending.bytes > self.byte_limit {
            let Some((_, oldest)) = pending.bodies.pop_first() else { return };
            pending.bytes -= oldest.bytes;
            oldest.dropped.cancel();
        }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        lock(&self.pending)
    }
}

impl PendingBody {
    /// Counts more bytes.
    pub(super) fn grow(&self, bytes: usize) {
        let mut pending = self.all.pending();
        if let Some(entry) = pending.bodies.get_mut(&self.id) {
            entry.bytes += bytes;
            pending.bytes += bytes;
            self.all.give_up(&mut pending);
        }
    }

    /// Waits until the body is dropped in favour of newer ones.
    pub(super) async fn dropped(&self) {
        self.dropped.cancelled().await;
    }
}

impl Drop for PendingBody {
    fn drop(&mut self) {
        let mut pending = self.all.pending();
        if let Some(entry) = pending.bodies.remove(&self.id) {
            pending.bytes -= entry.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped<const N: usize>(bodies: [&PendingBody; N]) -> [bool; N] {
        bodies.map(|body| body.dropped.is_cancelled())
    }

    #[test]
    fn the_oldest_is_dropped_when_there_are_too_many() {
        let bodies = PendingBodies::new(2, 100);
        let [first, second, third] = [0; 3].map(|bytes| bodies.add(bytes));
        assert_eq!(dropped([&first, &second, &third]), [true, false, false]);
        drop(second);
        let fourth = bodies.add(0);
        assert_eq!(dropped([&third, &fourth]), [false, false]);
    }

    #[test]
    fn the_oldest_is_dropped_when_they_are_too_large_together() {
        let bodies = PendingBodies::new(10, 100);
        let [first, second] = [60, 0].map(|bytes| bodies.add(bytes));
        second.grow(40);
        assert_eq!(dropped([&first, &second]), [false, false]);
        second.grow(1);
        assert_eq!(dropped([&first, &second]), [true, false]);
        drop((first, second));
        assert_eq!(bodies.pending().bytes, 0);
    }
}
