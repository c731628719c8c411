//! A call on the fast path: polled once by the task that reads, then in its own task.

use super::call_state::CallState;
use super::connection::Connection;
use crate::call_result::{CallOutcome, failed};
use crate::client::Client;
use crate::fast_path::{Answer, Meta, PlainCall, RawCall};
use crate::handler::PoolHandler;
use crate::request::Request;
use futures_util::FutureExt as _;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId, RequestMetaObject, ServerNotification};
use rmcp::service::Peer;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio_util::sync::{CancellationToken, ReusableBoxFuture};
use tool_runtime_core::seam::{INTERNAL, Isolation, Watched, spawn};
use tool_runtime_core::tool::TaskSupport;
use tool_runtime_core::vocabulary::BoxFuture;

/// The parts that the plain calls of a connection share. Exists after the handshake.
pub(crate) struct PlainCalls {
    pub(super) handler: Arc<PoolHandler>,
    pub(super) isolation: Isolation,
    pub(super) peer: Peer<RoleServer>,
    /// Whether the client uses 2026-07-28: rmcp has seen no `initialize`.
    pub(super) is_stateless: bool,
}

impl PlainCalls {
    pub(crate) fn new(
        handler: Arc<PoolHandler>,
        isolation: Isolation,
        peer: Peer<RoleServer>,
    ) -> Self {
        let is_stateless = peer.peer_info().is_none();
        Self { handler, isolation, peer, is_stateless }
    }

    /// The plain call, if it is one. A call that may become a task is not.
    pub(super) fn plain<'a>(&self, call: &RawCall<'a>) -> Option<PlainCall<'a>> {
        let tool = self.handler.pool.get(call.name());
        match tool.is_some_and(|tool| tool.definition().task != TaskSupport::None) {
            true => None,
            false => call.plain(self.is_stateless, &self.handler.metas),
        }
    }
}

/// Continues to read while a call blocks its thread.
pub(super) trait ReadOn: Send + Sync {
    /// Continues to read in another task, because this tool has blocked the thread of the reading
    /// task.
    fn read_on(&self, tool: &str);
}

/// The work of a call, up to its answer.
pub(super) type Work = ReusableBoxFuture<'static, String>;

/// A call on the fast path.
pub(super) struct FastCall {
    calls: Arc<PlainCalls>,
    connection: Arc<Connection>,
    reader: Arc<dyn ReadOn>,
    client: Arc<Client>,
    state: Arc<CallState>,
    begun: Instant,
}

impl FastCall {
    pub(super) fn new(
        call: PlainCall<'_>,
        calls: &Arc<PlainCalls>,
        connection: &Arc<Connection>,
        reader: Arc<dyn ReadOn>,
    ) -> Self {
        let state = Arc::new(CallState::new(call.id));
        let request = FastRequest {
            meta: call.meta,
            arguments: call.arguments.map(|raw| raw.get().to_owned()),
            state: Arc::clone(&state),
            calls: Arc::clone(calls),
        };
        Self {
            client: calls.handler.client(request, call.subject, call.round),
            calls: Arc::clone(calls),
            connection: Arc::clone(connection),
            reader,
            state,
            begun: Instant::now(),
        }
    }

    pub(super) fn state(&self) -> &Arc<CallState> {
        &self.state
    }

    /// Runs the call up to the answer, in the memory of a call that has finished.
    pub(super) fn run(&self, finished: Option<Work>) -> Work {
        let (handler, client) = (Arc::clone(&self.calls.handler), Arc::clone(&self.client));
        let work = async move {
            // The core turns panics of user code into errors: this catches faults of the server.
            let called = AssertUnwindSafe(handler.run(&client)).catch_unwind().await;
            let internal = |_| Err(ErrorData::internal_error(INTERNAL, None));
            Answer::new(&client, called.unwrap_or_else(internal)).json
        };
        match finished {
            Some(mut memory) => {
                memory.set(work);
                memory
            }
            None => Work::new(work),
        }
    }

    /// Polls the work on this thread. `None` if it is pending, or may not be polled now.
    pub(super) fn poll(
        self: &Arc<Self>,
        work: &mut Work,
        task: &mut Context<'_>,
    ) -> Option<String> {
        let watched: Arc<dyn Watched> = Arc::clone(self) as _;
        match self.calls.isolation.poll(&watched, || work.poll(task)) {
            Some(Poll::Ready(answer)) => Some(answer),
            _ => None,
        }
    }

    /// Continues the work in a separate task.
    pub(super) fn detach(self: Arc<Self>, work: Work) {
        let watched = Arc::clone(&self);
        let isolation = self.calls.isolation.clone();
        let rest = Box::pin(async move {
            let answer = work.await;
            self.answer(&answer);
            self.connection.flush();
        });
        isolation.spawn(watched, rest);
    }

    /// Queues the answer, unless the call has ended.
    pub(super) fn answer(&self, json: &str) {
        self.connection.answer(&self.state, json);
    }

    /// Answers at the time limit, or the end of the session, instead of a blocked thread.
    async fn expire(self: Arc<Self>) {
        let client = &self.client;
        let context = self.calls.handler.context_with(client, self.state.token.clone());
        let pool = &self.calls.handler.pool;
        let error = pool.expiry(client.name(), self.begun, &context).await;
        let failed =
            failed(&error, client.is_stateless()).map(|result| CallOutcome::Other(result.into()));
        self.answer(&Answer::new(client, failed).json);
        self.connection.flush();
    }
}

impl Watched for FastCall {
    fn name(&self) -> &str {
        self.client.name()
    }

    fn blocked(self: Arc<Self>) {
        self.reader.read_on(self.client.name());
        if let Some(over) = self.state.token() {
            spawn(Box::pin(async move {
                over.run_until_cancelled(self.expire()).await;
            }));
        }
    }
}

/// The request of a fast call.
struct FastRequest {
    meta: Arc<Meta>,
    arguments: Option<String>,
    state: Arc<CallState>,
    calls: Arc<PlainCalls>,
}

impl Request for FastRequest {
    fn id(&self) -> &RequestId {
        &self.state.id
    }

    fn meta(&self) -> &RequestMetaObject {
        self.meta.get()
    }

    fn token(&self) -> CancellationToken {
        self.state.token.clone()
    }

    fn is_stateless(&self) -> bool {
        self.calls.is_stateless
    }

    fn arguments(&self) -> Option<&str> {
        self.arguments.as_deref()
    }

    fn is_polled_by_transport(&self) -> bool {
        true
    }

    fn notify(&self, message: ServerNotification) -> BoxFuture<'_, ()> {
        Box::pin(async { drop(self.calls.peer.send_notification(message).await) })
    }

    fn peer(&self) -> Option<&Peer<RoleServer>> {
        Some(&self.calls.peer)
    }
}
