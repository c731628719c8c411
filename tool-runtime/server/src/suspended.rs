//! Governed calls that wait for the answers of their clients, between two requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tool_runtime_core::seam::{CallRounds, hex, lock};

/// Limit on the requests with suspended calls. Beyond it the oldest ones end.
const MAX_WAITING: usize = 1000;

/// Requests that were answered with questions, by an id in the state that the client sends back. Each
/// can be continued once: a second request with the same state is a new call.
#[derive(Debug)]
pub(super) struct SuspendedCalls {
    waiting: Mutex<VecDeque<Waiting>>,
    lifetime: Duration,
}

#[derive(Debug)]
struct Waiting {
    id: String,
    since: Instant,
    calls: Arc<CallRounds>,
}

impl SuspendedCalls {
    /// Ends calls that wait longer than this.
    pub(super) fn new(lifetime: Duration) -> Self {
        Self { waiting: Mutex::default(), lifetime }
    }

    /// Stores the calls of a request.
    pub(super) fn keep(&self, id: String, calls: Arc<CallRounds>) {
        let now = Instant::now();
        // Dropped without the lock: the end of a call is recorded by user code.
        let mut ended = Vec::new();
        let mut waiting = lock(&self.waiting);
        waiting.push_back(Waiting { id, since: now, calls });
        while waiting.len() > MAX_WAITING
            || waiting.front().is_some_and(|one| self.is_over(one, now))
        {
            ended.extend(waiting.pop_front());
        }
        drop(waiting);
    }

    /// The calls of an earlier request, to be continued.
    pub(super) fn take(&self, id: &str) -> Option<Arc<CallRounds>> {
        let mut waiting = lock(&self.waiting);
        let index = waiting.iter().position(|one| one.id == id)?;
        let found = waiting.remove(index);
        drop(waiting);
        let found = found.filter(|one| !self.is_over(one, Instant::now()))?;
        found.calls.resume();
        Some(found.calls)
    }

    fn is_over(&self, one: &Waiting, now: Instant) -> bool {
        now.saturating_duration_since(one.since) >= self.lifetime
    }
}

/// An id that cannot be guessed: anonymous clients share their tasks.
pub(super) fn random_id() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system provides random bytes");
    hex(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(seconds: u64) -> SuspendedCalls {
        SuspendedCalls::new(Duration::from_secs(seconds))
    }

    #[test]
    fn calls_are_continued_once() {
        let (store, calls) = (store(60), Arc::new(CallRounds::default()));
        store.keep("a".into(), Arc::clone(&calls));
        store.keep("b".into(), Arc::default());
        assert!(Arc::ptr_eq(&store.take("a").expect("they wait"), &calls));
        assert!(store.take("a").is_none());
        assert!(store.take("b").is_some());
    }

    #[test]
    fn expired_and_surplus_calls_end() {
        let expired = store(0);
        expired.keep("a".into(), Arc::default());
        assert!(expired.take("a").is_none());
        let full = store(60);
        let first = Arc::new(CallRounds::default());
        full.keep("first".into(), Arc::clone(&first));
        (0..MAX_WAITING).for_each(|_| full.keep(random_id(), Arc::default()));
        assert_eq!(Arc::strong_count(&first), 1, "dropped");
        assert!(full.take("first").is_none());
    }
}
