//! Sessions with a limit, an owner, and an idle time.
//!
//! rmcp's sessions have no limit, accept every client that sends the id, and end while a silent call runs or a client
//! listens. A call whose client has disconnected is cancelled here, too: rmcp continues it.

mod problem;
mod replay_buffer;
mod routing;
mod session;
mod session_transport;
mod session_use;
mod stream;

use super::concurrency_limit::ConcurrencyLimit;
use super::options::HttpOptions;
use super::session_call::RunningCall;
use crate::handler::PoolHandler;
use crate::in_flight::cancelled_id;
use crate::subscribers::Session as Client;
use axum::http::request::Parts;
use futures_util::Stream;
pub(super) use problem::SessionProblem;
use rmcp::model::{ClientJsonRpcMessage, GetExtensions as _, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use routing::cancelled;
pub(super) use session::Session;
use session_transport::SessionTransport;
pub(super) use session_use::SessionUse;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;
use stream::{AnswerWatch, WatchedStream};
use tool_runtime_core::seam::lock;
use tool_runtime_core::vocabulary::Principal;

/// Limit on closing a session whose client does not read.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Limit on the calls of a session that continue without a connection; others are cancelled immediately.
const MAX_DETACHED: usize = 16;

tokio::task_local! {
    /// The caller of the request: rmcp creates a session without naming one.
    static CALLER: Caller;
}

struct Caller {
    principal: Arc<Principal>,
    /// The client of the handler that rmcp has created last, for a session that may be opened.
    client: Cell<Option<Arc<Client>>>,
    /// The reason why the request is rejected.
    problem: Cell<Option<SessionProblem>>,
}

/// All sessions.
pub(super) struct Sessions {
    rmcp: LocalSessionManager,
    /// The template of the handlers of sessions.
    handler: Arc<PoolHandler>,
    open: Mutex<HashMap<SessionId, Arc<Session>>>,
    limit: Arc<ConcurrencyLimit>,
    idle: Duration,
    resume: Duration,
    max_stream: Option<Duration>,
    this: Weak<Self>,
}

impl Sessions {
    pub(super) fn new(options: &HttpOptions, handler: Arc<PoolHandler>) -> Arc<Self> {
        let mut rmcp = LocalSessionManager::default();
        // rmcp would take a session for idle while its client waits or listens.
        rmcp.session_config.keep_alive = None;
        Arc::new_cyclic(|this| Self {
            rmcp,
            handler,
            open: Mutex::default(),
            limit: ConcurrencyLimit::new(options.max_sessions, options.max_sessions_per_principal),
            idle: options.session_idle,
            resume: options.resume_timeout,
            max_stream: options.max_stream_duration,
            this: this.clone(),
        })
    }

    /// Runs rmcp's work on a request of a principal.
    ///
    /// # Errors
    /// A problem with the session, which rmcp would report as a failure of the server.
    pub(super) async fn for_caller<T>(
        principal: Arc<Principal>,
        work: impl Future<Output = T>,
    ) -> Result<T, SessionProblem> {
        let caller = Caller { principal, client: Cell::default(), problem: Cell::default() };
        let work = async {
            let done = work.await;
            CALLER.with(|caller| caller.problem.take()).map_or(Ok(done), Err)
        };
        CALLER.scope(caller, work).await
    }

    /// Sets the handler of the session that the caller may open. rmcp creates handlers for other
    /// purposes, too.
    pub(super) fn set_handler(handler: &PoolHandler) {
        let set = |caller: &Caller| caller.client.set(Some(Arc::clone(&handler.session)));
        let _ = CALLER.try_with(set);
    }

    /// Whether a session belongs to this principal; `None` if the session is unknown.
    pub(super) fn belongs_to(&self, id: &str, principal: &Principal) -> Option<bool> {
        self.open().get(id).map(|session| session.owner.id() == principal.id())
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Session>>> {
        lock(&self.open)
    }

    /// The session, which is used now.
    pub(super) fn find(&self, id: &str) -> Option<Arc<Session>> {
        let session = self.open().get(id).cloned();
        session.inspect(|session| session.touch())
    }

    /// A new session of the caller, within the limits.
    fn new_session(&self) -> Result<Session, SessionProblem> {
        let admitted = CALLER.try_with(|caller| {
            let permit = self.limit.take(&caller.principal)?;
            let client = caller.client.take().ok_or(SessionProblem::NotFound)?;
            client.open(self.handler.transport);
            let handler = Arc::new(self.handler.for_session(client));
            Ok(Session::new(Arc::clone(&caller.principal), handler, permit))
        });
        admitted.unwrap_or(Err(SessionProblem::NotFound))
    }

    /// Closes the session when it has been idle.
    fn watch(&self, id: SessionId, session: &Arc<Session>) {
        let (sessions, idle) = (self.this.clone(), self.idle);
        let watched = Arc::downgrade(session);
        let watch = async move {
            while let Some(rest) = watched.upgrade().map(|session| session.time_left(idle)) {
                if rest.is_zero() {
                    break;
                }
                tokio::time::sleep(rest).await;
            }
            if let Some(sessions) = sessions.upgrade() {
                tracing::debug!(%id, "a session was idle and is closed");
                let _ = sessions.close_session(&id).await;
            }
        };
        session.abort_with(tokio::spawn(watch).abort_handle());
    }

    /// Cancels a call whose client has closed its stream, unless the client resumes it in time.
    fn abandoned(&self, id: SessionId, request: RequestId, stream: Option<u64>) {
        let may_wait = |session: &Arc<Session>| session.detached_calls() <= MAX_DETACHED;
        let waits = stream.is_some() && self.open().get(&id).is_some_and(may_wait);
        let (sessions, resume) = (self.this.clone(), self.resume);
        tokio::spawn(async move {
            if waits {
                tokio::time::sleep(resume).await;
            }
            let Some(sessions) = sessions.upgrade() else { return };
            let Some(session) = sessions.open().get(&id).cloned() else { return };
            if stream.is_none_or(|stream| session.give_up(stream)) {
                tracing::debug!(%id, %request, "the client has disconnected, its call is cancelled");
                let message = cancelled(request, "the client has disconnected");
                let _ = sessions.rmcp.accept_message(&id, message).await;
            }
        });
    }
}

/// Whether a request continues a call that has begun: its id is in flight.
fn continues_call(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Request(message) = message else { return false };
    let parts = message.request.extensions().get::<Parts>();
    parts.is_some_and(|parts| parts.extensions.get::<RunningCall>().is_some())
}

/// Notes a problem for the response, too: rmcp's answer does not name it.
fn recorded<T>(result: Result<T, impl Into<SessionProblem>>) -> Result<T, SessionProblem> {
    result.map_err(|problem| {
        let problem = problem.into();
        let _ = CALLER.try_with(|caller| caller.problem.set(Some(problem.clone())));
        problem
    })
}

impl SessionManager for Sessions {
    type Error = SessionProblem;
    type Transport = SessionTransport<<LocalSessionManager as SessionManager>::Transport>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionProblem> {
        let session = Arc::new(recorded(self.new_session())?);
        let (id, transport) = recorded(self.rmcp.create_session().await)?;
        let transport = SessionTransport::new(transport, Arc::clone(&session.ongoing));
        self.watch(Arc::clone(&id), &session);
        self.open().insert(Arc::clone(&id), session);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionProblem> {
        recorded(self.rmcp.initialize_session(id, message).await)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionProblem> {
        recorded(self.rmcp.has_session(id).await)
    }

    /// The watching task, which ends with the session, may run this.
    async fn close_session(&self, id: &SessionId) -> Result<(), SessionProblem> {
        if let Some(session) = self.open().get(id) {
            session.ongoing.end();
        }
        let closed = tokio::time::timeout(CLOSE_TIMEOUT, self.rmcp.close_session(id)).await;
        self.open().remove(id);
        recorded(closed.unwrap_or(Ok(())))
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionProblem> {
        let request = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let session = recorded(self.find(id).ok_or(SessionProblem::NotFound))?;
        if let Some(request) = request.as_ref().filter(|_| !continues_call(&message)) {
            recorded(session.ongoing.begin(request, None))?;
        }
        let watch = AnswerWatch::new(self.this.clone(), Arc::clone(id), session, request);
        let stream = recorded(self.rmcp.create_stream(id, message).await)?;
        Ok(WatchedStream::new(stream, Some(watch)).for_at_most(self.max_stream))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionProblem> {
        let session = self.find(id);
        if let (Some(session), Some(request)) = (session, cancelled_id(&message)) {
            session.ongoing.cancel(request);
        }
        recorded(self.rmcp.accept_message(id, message).await)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionProblem> {
        let session = self.find(id);
        let watch = session
            .map(|session| AnswerWatch::new(self.this.clone(), Arc::clone(id), session, None));
        Ok(WatchedStream::new(recorded(self.rmcp.create_standalone_stream(id).await)?, watch))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionProblem> {
        let (session, number) = (self.find(id), stream::number(&last_event_id));
        let resumed =
            |session| AnswerWatch::resumed(self.this.clone(), Arc::clone(id), session, number);
        let watch = session.clone().map(resumed);
        let stream = match self.rmcp.resume(id, last_event_id.clone()).await {
            Ok(stream) => WatchedStream::new(stream, watch),
            Err(error) => {
                let buffer =
                    session.zip(number).and_then(|(session, number)| session.replay(number));
                let messages = buffer.ok_or(error)?.after(&last_event_id).await;
                WatchedStream::new(futures_util::stream::iter(messages), watch)
            }
        };
        Ok(stream.for_at_most(self.max_stream))
    }
}
