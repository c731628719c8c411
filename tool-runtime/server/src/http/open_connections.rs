//! Limits the open connections, and closes idle ones for new ones.
//!
//! Limit: a connection with a request in process is never closed for another one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::lock;

/// The state of a connection with a request in process. The state of an idle connection is the
/// count of events at which it became idle.
const BUSY: u64 = u64::MAX;

/// The state of a connection that is closed for another one.
const CLOSED: u64 = u64::MAX - 1;

/// The connections of one listener.
pub(super) struct OpenConnections {
    limit: usize,
    events: AtomicU64,
    open: Mutex<HashMap<u64, Arc<Activity>>>,
}

/// One open connection, until dropped.
pub(super) struct OpenConnection {
    connections: Arc<OpenConnections>,
    id: u64,
    activity: Arc<Activity>,
}

struct Activity {
    state: AtomicU64,
    closed: CancellationToken,
}

/// A request in process, until dropped.
pub(super) struct InProcess(Arc<OpenConnection>);

impl OpenConnections {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, events: AtomicU64::new(0), open: Mutex::default() })
    }

    /// Adds a new connection. At the limit, the connection that has been idle longest is closed.
    /// `None` if all have requests in process.
    pub(super) fn add(self: &Arc<Self>) -> Option<Arc<OpenConnection>> {
        let mut open = self.open();
        if open.len() >= self.limit {
            let idle = open.iter().filter_map(|(id, one)| Some((one.idle_since()?, *id)));
            let (since, id) = idle.min()?;
            // A connection that has since begun a request stays open.
            open.get(&id).filter(|one| one.close(since))?;
            open.remove(&id);
            tracing::debug!("an idle connection is closed for a new one");
        }
        let id = self.count();
        let (state, closed) = (AtomicU64::new(id), CancellationToken::new());
        let activity = Arc::new(Activity { state, closed });
        open.insert(id, Arc::clone(&activity));
        drop(open);
        Some(Arc::new(OpenConnection { connections: Arc::clone(self), id, activity }))
    }

    /// Counts an event, and returns the count.
    fn count(&self) -> u64 {
        self.events.fetch_add(1, Ordering::Relaxed)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Arc<Activity>>> {
        lock(&self.open)
    }
}

impl OpenConnection {
    /// Waits until the connection is closed for another one.
    pub(super) async fn closed(&self) {
        self.activity.closed.cancelled().await;
    }

    /// Begins a request, unless the connection is closed.
    pub(super) fn begin(self: &Arc<Self>) -> Option<InProcess> {
        let since = self.activity.idle_since()?;
        self.activity.change(since, BUSY).then(|| InProcess(Arc::clone(self)))
    }

    /// Whether a request is in process.
    pub(super) fn is_busy(&self) -> bool {
        self.activity.state.load(Ordering::Relaxed) == BUSY
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.connections.open().remove(&self.id);
    }
}

impl Activity {
    fn idle_since(&self) -> Option<u64> {
        Some(self.state.load(Ordering::Relaxed)).filter(|state| *state < CLOSED)
    }

    /// Closes the connection, if it has been idle since `since`.
    fn close(&self, since: u64) -> bool {
        let is_closed = self.change(since, CLOSED);
        if is_closed {
            self.closed.cancel();
        }
        is_closed
    }

    fn change(&self, from: u64, to: u64) -> bool {
        self.state.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        let OpenConnection { connections, activity, .. } = &*self.0;
        activity.state.store(connections.count(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_closed(connection: &OpenConnection) -> bool {
        connection.activity.closed.is_cancelled()
    }

    #[test]
    fn the_longest_idle_connection_is_closed_for_a_new_one() {
        let connections = OpenConnections::new(2);
        let [first, second] = [connections.add(), connections.add()].map(Option::unwrap);
        drop(first.begin());
        let third = connections.add().expect("a place");
        assert_eq!([&first, &second, &third].map(|one| is_closed(one)), [false, true, false]);
        assert!(second.begin().is_none(), "nothing is begun on what is closed");
        let fourth = connections.add().expect("a place");
        assert_eq!([&first, &third, &fourth].map(|one| is_closed(one)), [true, false, false]);
    }

    #[test]
    fn a_connection_with_a_request_stays() {
        let connections = OpenConnections::new(1);
        let first = connections.add().expect("a place");
        let request = first.begin().expect("an open connection");
        assert!(first.is_busy() && connections.add().is_none());
        drop(request);
        assert!(!first.is_busy() && connections.add().is_some() && is_closed(&first));
    }

    #[test]
    fn a_closed_connection_frees_its_slot() {
        let connections = OpenConnections::new(1);
        let first = connections.add().expect("a place");
        let request = first.begin();
        drop((request, first));
        assert!(connections.add().is_some() && connections.open().is_empty());
    }
}
