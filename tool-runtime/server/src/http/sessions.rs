//! Sessions: how many there are, whose they are, and when they end.
//!
//! rmcp's own have no number, belong to whoever knows their id, and end while a quiet call runs or
//! a client listens. What their clients have left is cancelled here, too: rmcp goes on for them.

mod problem;
mod replay_buffer;
mod routing;
mod session;
mod session_transport;
mod stream;

use super::concurrency_limit::ConcurrencyLimit;
use super::options::HttpOptions;
use crate::handler::PoolHandler;
use crate::subscribers::Session as Client;
use futures_util::Stream;
pub(super) use problem::SessionProblem;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use routing::cancelled;
use session::Session;
use session_transport::SessionTransport;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;
use stream::{Owner, Watch, Watched};
use tool_runtime_core::Principal;
use tool_runtime_core::seam::lock;

/// How long closing waits for a session whose client does not read.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// For how many calls of a session its client may be away at once; the others are cancelled at
/// once, or a client could have any number of them by leaving.
const MAX_AWAY: usize = 16;

tokio::task_local! {
    /// Who is asking: rmcp makes a session without saying for whom.
    static CALLER: Caller;
}

struct Caller {
    principal: Arc<Principal>,
    /// The client of the handler that rmcp has made last, for a session that may be opened.
    client: Cell<Option<Arc<Client>>>,
    /// Why its request is refused.
    problem: Cell<Option<SessionProblem>>,
}

/// All sessions.
pub(super) struct Sessions {
    rmcp: LocalSessionManager,
    open: Mutex<HashMap<SessionId, Arc<Session>>>,
    seats: Arc<ConcurrencyLimit>,
    idle: Duration,
    resume: Duration,
    max_stream: Option<Duration>,
    itself: Weak<Self>,
}

impl Sessions {
    pub(super) fn new(options: &HttpOptions) -> Arc<Self> {
        let mut rmcp = LocalSessionManager::default();
        // A session is not idle while its client waits or listens; rmcp cannot tell.
        rmcp.session_config.keep_alive = None;
        Arc::new_cyclic(|itself| Self {
            rmcp,
            open: Mutex::default(),
            seats: ConcurrencyLimit::new(options.max_sessions, options.max_sessions_per_principal),
            idle: options.session_idle,
            resume: options.resume_timeout,
            max_stream: options.max_stream_duration,
            itself: itself.clone(),
        })
    }

    /// Does something for somebody.
    ///
    /// # Errors
    /// It needed a session that there is not, or that does not take it: rmcp's answer would be that
    /// the server has failed.
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

    /// Marks a handler as the one of the session that the caller may open. rmcp makes handlers for
    /// other purposes, too.
    pub(super) fn is_served_by(handler: &PoolHandler) {
        let known = |caller: &Caller| caller.client.set(Some(Arc::clone(&handler.session)));
        let _asked = CALLER.try_with(known);
    }

    /// Whether a session is of this principal; `None` if there is no such session.
    pub(super) fn is_of(&self, id: &str, principal: &Principal) -> Option<bool> {
        self.open().get(id).map(|session| session.owner.id() == principal.id())
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Session>>> {
        lock(&self.open)
    }

    fn find(&self, id: &SessionId) -> Option<Arc<Session>> {
        let session = self.open().get(id).cloned();
        session.inspect(|session| session.touch())
    }

    /// Takes a seat for whoever is asking.
    fn seat(&self) -> Result<Session, SessionProblem> {
        let taken = CALLER.try_with(|caller| {
            let seat = self.seats.take(&caller.principal)?;
            // The calls of the session are those of the handler that rmcp has made for it.
            if let Some(client) = caller.client.take() {
                client.open();
            }
            Ok(Session::new(Arc::clone(&caller.principal), seat))
        });
        taken.unwrap_or(Err(SessionProblem::Gone))
    }

    /// Ends the session when nothing happens in it.
    fn watch(&self, id: SessionId, session: &Arc<Session>) {
        let (sessions, idle) = (self.itself.clone(), self.idle);
        let watched = Arc::downgrade(session);
        let watch = async move {
            while let Some(rest) = watched.upgrade().map(|session| session.rest(idle)) {
                if rest.is_zero() {
                    break;
                }
                tokio::time::sleep(rest).await;
            }
            if let Some(sessions) = sessions.upgrade() {
                tracing::debug!(%id, "a session was idle and is closed");
                let _closed = sessions.close_session(&id).await;
            }
        };
        session.keep(tokio::spawn(watch).abort_handle());
    }

    fn owner(&self) -> Weak<dyn Owner> {
        self.itself.clone()
    }
}

impl Owner for Sessions {
    /// Cancels a call whose client has gone, unless it comes back in time.
    fn abandoned(&self, id: SessionId, request: RequestId, stream: Option<u64>) {
        let is_away = |session: &Arc<Session>| session.away() <= MAX_AWAY;
        let waits = stream.is_some() && self.open().get(&id).is_some_and(is_away);
        let (sessions, resume) = (self.itself.clone(), self.resume);
        tokio::spawn(async move {
            if waits {
                tokio::time::sleep(resume).await;
            }
            let Some(sessions) = sessions.upgrade() else { return };
            let Some(session) = sessions.open().get(&id).cloned() else { return };
            if stream.is_none_or(|stream| session.give_up(stream)) {
                tracing::debug!(%id, %request, "the client has gone, its call is cancelled");
                let message = cancelled(request, "the client has gone");
                let _told = sessions.rmcp.accept_message(&id, message).await;
            }
        });
    }
}

/// Keeps a problem for whoever is asking, too: rmcp's answer does not say which it was.
fn noted<T>(result: Result<T, impl Into<SessionProblem>>) -> Result<T, SessionProblem> {
    result.map_err(|problem| {
        let problem = problem.into();
        let _asked = CALLER.try_with(|caller| caller.problem.set(Some(problem.clone())));
        problem
    })
}

impl SessionManager for Sessions {
    type Error = SessionProblem;
    type Transport = SessionTransport<<LocalSessionManager as SessionManager>::Transport>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionProblem> {
        let session = Arc::new(noted(self.seat())?);
        let (id, transport) = noted(self.rmcp.create_session().await)?;
        let line = SessionTransport::new(transport, Arc::clone(&session.ongoing));
        self.watch(Arc::clone(&id), &session);
        self.open().insert(Arc::clone(&id), session);
        Ok((id, line))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionProblem> {
        noted(self.rmcp.initialize_session(id, message).await)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionProblem> {
        noted(self.rmcp.has_session(id).await)
    }

    /// The watch itself may be what closes: its task ends with the session.
    async fn close_session(&self, id: &SessionId) -> Result<(), SessionProblem> {
        if let Some(session) = self.open().get(id) {
            session.ongoing.end();
        }
        let closed = tokio::time::timeout(CLOSE_LIMIT, self.rmcp.close_session(id)).await;
        self.open().remove(id);
        noted(closed.unwrap_or(Ok(())))
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
        let session = noted(self.find(id).ok_or(SessionProblem::Gone))?;
        if let Some(request) = &request {
            noted(session.ongoing.begin(request))?;
        }
        let watch = Watch::new(self.owner(), Arc::clone(id), session, request);
        let stream = noted(self.rmcp.create_stream(id, message).await)?;
        Ok(Watched::new(stream, Some(watch)).for_at_most(self.max_stream))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionProblem> {
        self.find(id);
        noted(self.rmcp.accept_message(id, message).await)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionProblem> {
        let session = self.find(id);
        let watch = session.map(|session| Watch::new(self.owner(), Arc::clone(id), session, None));
        Ok(Watched::new(noted(self.rmcp.create_standalone_stream(id).await)?, watch))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionProblem> {
        let (session, number) = (self.find(id), stream::number(&last_event_id));
        let resumed = |session| Watch::resumed(self.owner(), Arc::clone(id), session, number);
        let watch = session.clone().map(resumed);
        let stream = match self.rmcp.resume(id, last_event_id.clone()).await {
            Ok(stream) => Watched::new(stream, watch),
            Err(error) => {
                let kept = session.zip(number).and_then(|(session, number)| session.kept(number));
                let kept = kept.ok_or(error)?.after(&last_event_id).await;
                Watched::new(futures_util::stream::iter(kept), watch)
            }
        };
        Ok(stream.for_at_most(self.max_stream))
    }
}
