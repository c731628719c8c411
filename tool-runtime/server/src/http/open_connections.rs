//! Limits the open connections, and closes idle ones for new ones.
//!
//! A semaphore would let silent clients keep all others out (`an_idle_connection_is_closed_for_a_new_one`).
//!
//! Limit: a connection with a request in process is never closed for another one.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::lock;

/// The connections of one listener.
pub(super) struct OpenConnections {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: usize,
    /// Number of times that a connection has become idle.
    events: u64,
    /// Connections without a request in process, in the order in which they became idle.
    idle: BTreeMap<u64, CancellationToken>,
}

/// One open connection, until dropped.
pub(super) struct OpenConnection {
    connections: Arc<OpenConnections>,
    /// The event at which it last became idle.
    since: AtomicU64,
    closed: CancellationToken,
}

/// A request in process, until dropped.
pub(super) struct InProcess(Arc<OpenConnection>);

impl OpenConnections {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, state: Mutex::default() })
    }

    /// Adds a new connection. At the limit, the connection that has been idle longest is closed.
    /// `None` if all have requests in process.
    pub(super) fn add(self: &Arc<Self>) -> Option<Arc<OpenConnection>> {
        let mut state = self.state();
        if state.open >= self.limit {
            let (_, idle) = state.idle.pop_first()?;
            idle.cancel();
            state.open -= 1;
            tracing::debug!("an idle connection is closed for a new one");
        }
        state.open += 1;
        let closed = CancellationToken::new();
        let since = AtomicU64::new(state.add_idle(&closed));
        drop(state);
        Some(Arc::new(OpenConnection { connections: Arc::clone(self), since, closed }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn add_idle(&mut self, connection: &CancellationToken) -> u64 {
        self.events += 1;
        self.idle.insert(self.events, connection.clone());
        self.events
    }
}

impl OpenConnection {
    /// Waits until the connection is closed for another one.
    pub(super) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Begins a request, unless the connection is closed.
    pub(super) fn begin(self: &Arc<Self>) -> Option<InProcess> {
        let was_idle = self.connections.state().idle.remove(&self.since());
        was_idle.map(|_| InProcess(Arc::clone(self)))
    }

    /// Whether a request is in process.
    pub(super) fn is_busy(&self) -> bool {
        let is_idle = self.connections.state().idle.contains_key(&self.since());
        !is_idle && !self.closed.is_cancelled()
    }

    fn since(&self) -> u64 {
        self.since.load(Ordering::Relaxed)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut state = self.connections.state();
        // A closed connection no longer counts.
        if !self.closed.is_cancelled() {
            state.open -= 1;
            state.idle.remove(&self.since());
        }
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        let OpenConnection { connections, since, closed } = &*self.0;
        since.store(connections.state().add_idle(closed), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_closed(connection: &OpenConnection) -> bool {
        connection.closed.is_cancelled()
    }

    #[test]
    fn the_longest_idle_connection_is_closed_for_a_new_one() {
        let connections = OpenConnections::new(2);
        let [first, second] = [connections.add(), connections.add()].map(Option::unwrap);
        drop(first.begin());
        let third = connections.add().expect("a permit");
        assert_eq!([&first, &second, &third].map(|one| is_closed(one)), [false, true, false]);
        assert!(second.begin().is_none(), "nothing is begun on what is closed");
        let fourth = connections.add().expect("a permit");
        assert_eq!([&first, &third, &fourth].map(|one| is_closed(one)), [true, false, false]);
    }

    #[test]
    fn a_connection_with_a_request_stays() {
        let connections = OpenConnections::new(1);
        let first = connections.add().expect("a permit");
        let request = first.begin().expect("an open connection");
        assert!(first.is_busy() && connections.add().is_none());
        drop(request);
        assert!(!first.is_busy() && connections.add().is_some() && is_closed(&first));
    }

    #[test]
    fn a_closed_connection_frees_its_slot() {
        let connections = OpenConnections::new(1);
        let first = connections.add().expect("a permit");
        let request = first.begin();
        drop((request, first));
        assert!(connections.add().is_some() && connections.state().open == 0);
    }
}
