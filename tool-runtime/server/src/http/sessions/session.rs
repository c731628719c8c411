//! One session: its owner, its last use, its calls in flight.

use super::replay_buffer::ReplayBuffer;
use super::session_transport::SessionRequests;
use crate::handler::PoolHandler;
use crate::http::concurrency_limit::Permit;
use rmcp::model::RequestId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tool_runtime_core::seam::lock;
use tool_runtime_core::vocabulary::Principal;

/// One session.
pub(in crate::http) struct Session {
    pub(super) owner: Arc<Principal>,
    /// Answers its requests.
    pub(in crate::http) handler: Arc<PoolHandler>,
    pub(super) ongoing: Arc<SessionRequests>,
    used: Mutex<Instant>,
    streams: AtomicUsize,
    calls: Mutex<HashMap<u64, Call>>,
    watch: OnceLock<AbortHandle>,
    _permit: Permit,
}

/// A call that has not been answered, by the number of its stream.
struct Call {
    request: RequestId,
    /// Connections that wait for the answer.
    listeners: usize,
    replay: Option<ReplayBuffer>,
}

impl Session {
    pub(super) fn new(owner: Arc<Principal>, handler: Arc<PoolHandler>, permit: Permit) -> Self {
        Self {
            owner,
            handler,
            ongoing: Arc::default(),
            used: Mutex::new(Instant::now()),
            streams: AtomicUsize::new(0),
            calls: Mutex::default(),
            watch: OnceLock::new(),
            _permit: permit,
        }
    }

    /// Aborts a task with the session.
    pub(super) fn abort_with(&self, watch: AbortHandle) {
        let _ = self.watch.set(watch);
    }

    pub(super) fn touch(&self) {
        *lock(&self.used) = Instant::now();
    }

    /// The time until the session is idle for `idle`.
    pub(super) fn time_left(&self, idle: Duration) -> Duration {
        if self.streams.load(Ordering::Relaxed) > 0 {
            return idle;
        }
        let used = *lock(&self.used);
        idle.saturating_sub(used.elapsed())
    }

    /// Counts a connection that opens a stream.
    pub(super) fn open(&self) {
        self.streams.fetch_add(1, Ordering::Relaxed);
    }

    /// The request whose answer a stream is for.
    pub(super) fn request_on(&self, stream: u64) -> Option<RequestId> {
        Some(self.calls().get(&stream)?.request.clone())
    }

    /// Counts a connection that waits for the answer on this stream.
    pub(super) fn listen(&self, stream: u64, request: &RequestId) {
        let mut calls = self.calls();
        let call = || Call { request: request.clone(), listeners: 0, replay: None };
        calls.entry(stream).or_insert_with(call).listeners += 1;
    }

    pub(super) fn answered(&self, stream: u64) {
        self.calls().remove(&stream);
    }

    /// Counts the end of a connection, which had this stream.
    pub(super) fn close(&self, stream: Option<u64>) {
        self.streams.fetch_sub(1, Ordering::Relaxed);
        self.touch();
        let mut calls = self.calls();
        if let Some(call) = stream.and_then(|stream| calls.get_mut(&stream)) {
            call.listeners = call.listeners.saturating_sub(1);
        }
    }

    /// Sets the buffer for messages on this stream while its client is disconnected.
    pub(super) fn set_replay(&self, stream: u64, replay: Option<ReplayBuffer>) {
        if let Some(call) = self.calls().get_mut(&stream) {
            call.replay = replay;
        }
    }

    /// Takes the buffer of this stream.
    pub(super) fn replay(&self, stream: u64) -> Option<ReplayBuffer> {
        self.calls().get_mut(&stream)?.replay.take()
    }

    /// The number of calls without a connection.
    pub(super) fn detached_calls(&self) -> usize {
        self.calls().values().filter(|call| call.listeners == 0).count()
    }

    /// Removes the call on this stream if it has no connection. Returns whether it still runs.
    pub(super) fn give_up(&self, stream: u64) -> bool {
        let mut calls = self.calls();
        if calls.get(&stream).is_none_or(|call| call.listeners > 0) {
            return false;
        }
        let call = calls.remove(&stream);
        call.is_some_and(|call| !call.replay.is_some_and(|replay| replay.is_complete()))
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<u64, Call>> {
        lock(&self.calls)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(watch) = self.watch.get() {
            watch.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sessions;
    use super::super::stream::AnswerWatch;
    use super::*;
    use crate::http::HttpOptions;
    use crate::http::concurrency_limit::ConcurrencyLimit;
    use rmcp::transport::streamable_http_server::session::SessionId;
    use std::sync::Weak;
    use tokio::time::advance;
    use tool_runtime_core::pool::ToolPool;

    const IDLE: Duration = Duration::from_secs(60);
    const MOST: Duration = Duration::from_secs(59);

    fn session() -> Arc<Session> {
        let permit = ConcurrencyLimit::new(1, None).take(&Arc::default()).expect("a permit");
        Arc::new(Session::new(Arc::default(), handler(), permit))
    }

    fn handler() -> Arc<PoolHandler> {
        let pool = ToolPool::builder().build().expect("an empty pool");
        Arc::new(PoolHandler::new(pool, "t".to_owned(), "1".to_owned()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_is_idle_since_its_last_use() {
        let session = session();
        advance(MOST).await;
        assert_eq!(session.time_left(IDLE), Duration::from_secs(1));
        session.touch();
        assert_eq!(session.time_left(IDLE), IDLE);
        advance(IDLE).await;
        assert!(session.time_left(IDLE).is_zero());
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_is_idle_since_the_end_of_its_last_call() {
        let session = session();
        let sessions = Weak::<Sessions>::new();
        let watch = || AnswerWatch::new(sessions.clone(), "id".into(), Arc::clone(&session), None);
        let (first, second) = (watch(), watch());
        advance(IDLE * 2).await;
        drop(first);
        advance(IDLE * 2).await;
        assert_eq!(session.time_left(IDLE), IDLE, "another call runs");
        drop(second);
        assert_eq!(session.time_left(IDLE), IDLE);
        advance(MOST).await;
        assert_eq!(session.time_left(IDLE), Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_uses_its_session() {
        let sessions = Sessions::new(&HttpOptions::default(), handler());
        let (id, session) = (SessionId::from("id"), session());
        sessions.open().insert(Arc::clone(&id), Arc::clone(&session));
        advance(MOST).await;
        assert!(sessions.find(&id).is_some());
        assert_eq!(session.time_left(IDLE), IDLE);
    }

    #[test]
    fn a_call_is_detached_while_its_client_is_disconnected() {
        let session = session();
        let request = RequestId::Number(1);
        session.listen(7, &request);
        session.listen(7, &request);
        session.streams.store(2, Ordering::Relaxed);
        session.close(Some(7));
        assert_eq!((session.detached_calls(), session.give_up(7)), (0, false));
        session.close(Some(7));
        assert_eq!((session.detached_calls(), session.give_up(7)), (1, true));
        assert!(!session.give_up(7), "it is given up once");
    }
}
