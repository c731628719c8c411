//! A call on the fast path: polled once by the task that reads, then by a task of its own.

use super::connection::Connection;
use crate::client::Client;
use crate::fast_path::{Answer, PlainCall};
use crate::handler::PoolHandler;
use crate::tool_call::{Called, failed};
use futures_util::FutureExt as _;
use rmcp::RoleServer;
use rmcp::model::{ClientCapabilities, Implementation, RequestMetaObject};
use rmcp::model::{ErrorData, RequestId, ServerNotification};
use rmcp::service::Peer;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::{INTERNAL, Isolation, Watched};
use tool_runtime_core::{BoxFuture, Principal, TaskSupport};

use crate::request::Request;

/// The way of plain calls, once the handshake is over.
pub(crate) struct FastPath {
    pub(crate) handler: Arc<PoolHandler>,
    pub(crate) isolation: Isolation,
    pub(crate) peer: Peer<RoleServer>,
    /// Whether the client is of 2026-07-28: then rmcp knows nothing of it.
    is_modern: bool,
    /// Cancelled when the session ends.
    pub(crate) end: CancellationToken,
}

impl FastPath {
    pub(crate) fn new(
        handler: Arc<PoolHandler>,
        isolation: Isolation,
        peer: Peer<RoleServer>,
        end: CancellationToken,
    ) -> Self {
        let is_modern = peer.peer_info().is_none();
        Self { handler, isolation, peer, is_modern, end }
    }

    /// The call in a line, if it is a plain one.
    pub(super) fn read(
        self: &Arc<Self>,
        line: &[u8],
        connection: &Arc<Connection>,
    ) -> Option<FastCall> {
        let call = PlainCall::read(std::str::from_utf8(line).ok()?, self.is_modern)?;
        let tool = self.handler.pool().get(&call.subject.name);
        // A call that may go on as a task is not answered by its result.
        if tool.is_some_and(|tool| tool.definition().task != TaskSupport::None) {
            return None;
        }
        Some(FastCall::new(self, call, connection))
    }
}

/// A call, which its connection answers once.
pub(super) struct FastCall {
    path: Arc<FastPath>,
    connection: Arc<Connection>,
    client: Arc<Client>,
    begun: Instant,
    /// It was answered, or taken back.
    is_over: AtomicBool,
    /// Cancelled when it is over, if a poll of it has blocked its thread.
    over: OnceLock<CancellationToken>,
}

impl FastCall {
    fn new(path: &Arc<FastPath>, call: PlainCall<'_>, connection: &Arc<Connection>) -> Self {
        let request = FastRequest {
            id: call.id,
            meta: call.meta,
            arguments: call.arguments.map(|raw| raw.get().to_owned()),
            token: path.end.child_token(),
            path: Arc::clone(path),
        };
        Self {
            client: path.handler.client(request, call.subject, call.round),
            path: Arc::clone(path),
            connection: Arc::clone(connection),
            begun: Instant::now(),
            is_over: AtomicBool::new(false),
            over: OnceLock::new(),
        }
    }

    pub(super) fn id(&self) -> &RequestId {
        self.client.request().id()
    }

    pub(super) fn isolation(&self) -> &Isolation {
        &self.path.isolation
    }

    /// The work, up to the answer.
    pub(super) fn run(&self) -> BoxFuture<'static, String> {
        let (handler, client) = (Arc::clone(&self.path.handler), Arc::clone(&self.client));
        Box::pin(async move {
            // User code that panics is an error of its call: what is caught here are faults of ours.
            let called = AssertUnwindSafe(handler.called(&client)).catch_unwind().await;
            let internal = |_| Err(ErrorData::internal_error(INTERNAL, None));
            Answer::new(&client, called.unwrap_or_else(internal)).json
        })
    }

    /// Goes on in a task of its own.
    pub(super) fn detach(self: Arc<Self>, work: BoxFuture<'static, String>) {
        let watched = Arc::clone(&self);
        let isolation = self.isolation().clone();
        let rest = Box::pin(async move {
            let answer = work.await;
            self.connection.answer(&self, &answer);
            self.connection.flush();
        });
        isolation.spawn(watched, rest);
    }

    /// The client takes it back.
    pub(super) fn cancel(&self) {
        self.finish();
        self.client.request().token().cancel();
    }

    /// Whether it may be answered: from now on it is over.
    pub(super) fn finish(&self) -> bool {
        let is_first = !self.is_over.swap(true, Ordering::SeqCst);
        if is_first && let Some(over) = self.over.get() {
            over.cancel();
        }
        is_first
    }

    /// Answers when the limit is over, or the session ends: a thread that is blocked cannot.
    async fn expire(self: Arc<Self>) {
        let client = &self.client;
        let context = self.path.handler.context_with(client, client.request().token());
        let pool = self.path.handler.pool();
        let error = pool.expiry(client.name(), self.begun, &context).await;
        let failed = failed(&error, client.is_modern());
        let answer = Answer::new(client, failed.map(|result| Called::Other(result.into())));
        self.connection.answer(&self, &answer.json);
        self.connection.flush();
    }
}

impl Watched for FastCall {
    fn name(&self) -> &str {
        self.client.name()
    }

    fn blocked(self: Arc<Self>) {
        self.connection.read_on(self.client.name());
        let over = CancellationToken::new();
        if self.over.set(over.clone()).is_err() || self.is_over.load(Ordering::SeqCst) {
            return;
        }
        tokio::spawn(async move { over.run_until_cancelled(self.expire()).await });
    }
}

/// The request of such a call.
struct FastRequest {
    id: RequestId,
    meta: RequestMetaObject,
    arguments: Option<String>,
    token: CancellationToken,
    path: Arc<FastPath>,
}

impl Request for FastRequest {
    fn id(&self) -> &RequestId {
        &self.id
    }

    fn meta(&self) -> &RequestMetaObject {
        &self.meta
    }

    fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    fn is_modern(&self) -> bool {
        self.path.is_modern
    }

    fn client_info(&self) -> Option<Implementation> {
        let of_session = || Some(self.path.peer.peer_info()?.client_info.clone());
        self.meta.client_info().or_else(of_session)
    }

    fn client_capabilities(&self) -> Option<ClientCapabilities> {
        let of_session = || Some(self.path.peer.peer_info()?.capabilities.clone());
        self.meta.client_capabilities().or_else(of_session)
    }

    fn principal(&self) -> Option<Arc<Principal>> {
        None
    }

    fn arguments(&self) -> Option<&str> {
        self.arguments.as_deref()
    }

    fn header(&self, _: &str) -> Option<&str> {
        None
    }

    fn keeps_numbers(&self) -> bool {
        true
    }

    fn is_polled_by_transport(&self) -> bool {
        true
    }

    fn notify(&self, message: ServerNotification) -> BoxFuture<'_, ()> {
        Box::pin(async { drop(self.path.peer.send_notification(message).await) })
    }

    fn peer(&self) -> Option<&Peer<RoleServer>> {
        Some(&self.path.peer)
    }
}
