//! The fast lane: a plain call runs in the task of its connection, without rmcp's service loop and
//! the tasks that it starts for every request.

use super::events;
use super::plain::PlainCall;
use super::reply::Reply;
use crate::mcp::server::client::Client;
use crate::mcp::server::handler::PoolHandler;
use crate::mcp::server::request::Request;
use axum::http::request::Parts;
use axum::response::Response;
use futures_util::future::maybe_done;
use rmcp::model::{RequestId, RequestMetaObject, ServerNotification};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How many messages wait for a client that does not read, before the call does.
const AHEAD: usize = 16;

/// The request of a plain call.
pub(in crate::mcp::server) struct PlainRequest {
    pub(in crate::mcp::server) id: RequestId,
    pub(in crate::mcp::server) meta: RequestMetaObject,
    pub(in crate::mcp::server) is_modern: bool,
    pub(in crate::mcp::server) parts: Parts,
    pub(in crate::mcp::server) token: CancellationToken,
    told: mpsc::Sender<Reply>,
}

impl PlainRequest {
    /// Tells the client something before the answer.
    pub(in crate::mcp::server) async fn tell(&self, message: ServerNotification) {
        drop(self.told.send(Reply::notification(message)).await);
    }
}

/// Runs a call and answers it: by JSON, or by a stream if it has more to say than its result.
pub(super) async fn answer(
    handler: Arc<PoolHandler>,
    call: PlainCall,
    mut parts: Parts,
) -> Response {
    if let Some(arguments) = call.arguments {
        parts.extensions.insert(arguments);
    }
    let (tell, mut told) = mpsc::channel(AHEAD);
    let request = PlainRequest {
        id: call.id,
        meta: call.meta,
        is_modern: call.is_modern,
        parts,
        token: CancellationToken::new(),
        told: tell.clone(),
    };
    let client = handler.client(Request::Plain(request), call.subject, call.round);
    let mut run = Box::pin(maybe_done(run(handler, client)));
    let first = tokio::select! {
        biased;
        () = &mut run => told.try_recv().ok(),
        first = told.recv() => first,
    };
    let rest = async move {
        run.as_mut().await;
        run.as_mut().take_output()
    };
    match first {
        Some(first) => events::stream(first, told, async move {
            if let Some(answer) = rest.await {
                drop(tell.send(answer).await);
            }
        }),
        None => rest.await.map_or_else(Response::default, Reply::into_response),
    }
}

/// The call, and what it came to. Dropping it cancels it.
async fn run(handler: Arc<PoolHandler>, client: Arc<Client>) -> Reply {
    let request = client.request();
    let _ended = request.token().drop_guard();
    match handler.called(&client).await {
        Ok(result) => Reply::result(result, &client),
        Err(error) => Reply::refusal(error, request),
    }
}
