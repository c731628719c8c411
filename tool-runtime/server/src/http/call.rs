//! A call without a session on the fast path, in the task of its connection.

use super::reply::{self, Reply};
use crate::arguments::RawArguments;
use crate::call_result::CallOutcome;
use crate::client::Client;
use crate::fast_path::{Answer, Meta, PlainCall};
use crate::handler::PoolHandler;
use crate::request::{McpResult, Request};
use axum::http::request::Parts;
use axum::response::Response;
use futures_util::future::maybe_done;
use rmcp::RoleServer;
use rmcp::model::{RequestId, RequestMetaObject, ServerNotification};
use rmcp::service::Peer;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::vocabulary::{BoxFuture, Principal};

/// Limit on the queued messages of a call. When the queue is full, the call waits for its client to read.
const MAX_QUEUED: usize = 16;

/// Runs a call and returns the response: JSON, or an event stream if a message precedes the result.
pub(super) async fn answer(
    handler: &Arc<PoolHandler>,
    call: PlainCall<'_>,
    parts: Parts,
    is_stateless: bool,
) -> Response {
    let (messages, mut sent) = mpsc::channel(MAX_QUEUED);
    let PlainCall { id, meta, subject, round, .. } = call;
    let (token, sender) = (CancellationToken::new(), messages.clone());
    let request = PlainRequest { id, meta, is_stateless, parts, token, messages: sender };
    let client = handler.client(request, subject, round);
    let mut run = maybe_done(run(handler, &client));
    let first = tokio::select! {
        biased;
        () = &mut run => sent.try_recv().ok(),
        first = sent.recv() => first,
    };
    let last = async move {
        (&mut run).await;
        let called = Pin::new(&mut run).take_output()?;
        Some(Reply::answer(Answer::new(&client, called), client.is_stateless()))
    };
    match first {
        Some(first) => reply::stream(first, sent, async move {
            if let Some(last) = last.await {
                drop(messages.send(last).await);
            }
        }),
        None => last.await.map_or_else(Response::default, Reply::into_response),
    }
}

/// The call; dropping it cancels it.
fn run(
    handler: &Arc<PoolHandler>,
    client: &Arc<Client>,
) -> BoxFuture<'static, McpResult<CallOutcome>> {
    let (handler, client) = (Arc::clone(handler), Arc::clone(client));
    Box::pin(async move {
        let _guard = client.request().token().drop_guard();
        handler.run(&client).await
    })
}

/// A request without a session, whose client cannot respond to server requests.
struct PlainRequest {
    id: RequestId,
    meta: Arc<Meta>,
    is_stateless: bool,
    parts: Parts,
    token: CancellationToken,
    /// Sends messages before the answer.
    messages: mpsc::Sender<Reply>,
}

impl Request for PlainRequest {
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

    fn notify(&self, message: ServerNotification) -> BoxFuture<'_, ()> {
        Box::pin(async { drop(self.messages.send(Reply::notification(message)).await) })
    }

    fn peer(&self) -> Option<&Peer<RoleServer>> {
        None
    }
}
