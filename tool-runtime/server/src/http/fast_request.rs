//! A call of the fast path as a request. Calls with and without a session differ in where their messages go.

use crate::arguments::RawArguments;
use crate::call_result::CallOutcome;
use crate::client::Client;
use crate::fast_path::Meta;
use crate::handler::PoolHandler;
use crate::request::{McpResult, OutcomeNote, Request};
use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{RequestId, RequestMetaObject, ServerNotification};
use rmcp::service::Peer;
use std::future::ready;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::vocabulary::{BoxFuture, Principal};

/// A call that rmcp has not seen.
pub(super) struct FastRequest<C> {
    pub(super) id: RequestId,
    pub(super) meta: Arc<Meta>,
    pub(super) is_stateless: bool,
    /// The head of the HTTP request, with the arguments and the caller as extensions.
    pub(super) parts: Parts,
    pub(super) token: CancellationToken,
    pub(super) channel: C,
}

/// Where the messages of a call go before its result.
pub(super) trait Channel: Send + Sync {
    fn notify(&self, message: ServerNotification) -> BoxFuture<'_, ()>;

    /// See [`Request::open_stream`].
    fn open_stream(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    /// See [`Request::peer`].
    fn peer(&self) -> Option<&Peer<RoleServer>> {
        None
    }
}

/// Runs a call. Dropping the future cancels the call.
pub(super) fn run(
    handler: &Arc<PoolHandler>,
    client: &Arc<Client>,
) -> BoxFuture<'static, McpResult<CallOutcome>> {
    let (handler, client) = (Arc::clone(handler), Arc::clone(client));
    Box::pin(async move {
        let _guard = client.request().token().drop_guard();
        handler.run(&client).await
    })
}

impl<C: Channel> Request for FastRequest<C> {
    fn id(&self) -> &RequestId {
        &self.id
    }

    fn meta(&self) -> &RequestMetaObject {
        self.meta.get()
    }

    fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    fn is_stateless(&self) -> bool {
        self.is_stateless
    }

    fn arguments(&self) -> Option<&str> {
        self.parts.extensions.get().map(RawArguments::get)
    }

    fn principal(&self) -> Option<Arc<Principal>> {
        self.parts.extensions.get().cloned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.parts.headers.get(name)?.to_str().ok()
    }

    fn keeps_big_integers(&self) -> bool {
        false
    }

    fn outcome_note(&self) -> Option<&OutcomeNote> {
        self.parts.extensions.get()
    }

    fn notify(&self, message: ServerNotification) -> BoxFuture<'_, ()> {
        self.channel.notify(message)
    }

    fn open_stream(&self) -> BoxFuture<'_, ()> {
        self.channel.open_stream()
    }

    fn peer(&self) -> Option<&Peer<RoleServer>> {
        self.channel.peer()
    }
}
