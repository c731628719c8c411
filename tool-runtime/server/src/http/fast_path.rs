//! The fast lane: a plain call runs in the task of its connection, without rmcp's service loop and
//! the tasks that it starts for every request.
//!
//! Limit: calls in sessions go through rmcp, where their clients can be asked, can cancel them, and
//! can come back for the answer.

use super::events;
use super::plain::PlainCall;
use super::plain_request::PlainRequest;
use super::reply::Reply;
use crate::client::Client;
use crate::handler::PoolHandler;
use crate::request::Request;
use crate::tool_call::Called;
use axum::http::request::Parts;
use axum::response::Response;
use futures_util::future::maybe_done;
use rmcp::model::ErrorData;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::BoxFuture;

/// Messages that wait for a client that does not read, before the call waits.
const MAX_QUEUED: usize = 16;

/// A call on its way. Dropping it cancels it.
type Run = BoxFuture<'static, Result<Called, ErrorData>>;

/// Runs a call and answers it: by JSON, or by a stream if it has more to say than its result.
pub(super) async fn answer(handler: &Arc<PoolHandler>, call: PlainCall, parts: Parts) -> Response {
    let (tell, mut told) = mpsc::channel(MAX_QUEUED);
    let client = client(handler, call, parts, tell.clone());
    let mut run = maybe_done(run(handler, &client));
    let first = tokio::select! {
        biased;
        () = &mut run => told.try_recv().ok(),
        first = told.recv() => first,
    };
    let last = async move {
        (&mut run).await;
        Pin::new(&mut run).take_output().map(|called| Reply::to(&client, called))
    };
    match first {
        Some(first) => events::stream(first, told, async move {
            if let Some(last) = last.await {
                drop(tell.send(last).await);
            }
        }),
        None => last.await.map_or_else(Response::default, Reply::into_response),
    }
}

fn client(
    handler: &PoolHandler,
    call: PlainCall,
    mut parts: Parts,
    messages: mpsc::Sender<Reply>,
) -> Arc<Client> {
    if let Some(arguments) = call.arguments {
        parts.extensions.insert(arguments);
    }
    let request = PlainRequest {
        id: call.id,
        meta: call.meta,
        is_modern: call.is_modern,
        parts,
        token: CancellationToken::new(),
        messages,
    };
    handler.client(Request::Plain(request), call.subject, call.round)
}

fn run(handler: &Arc<PoolHandler>, client: &Arc<Client>) -> Run {
    let (handler, client) = (Arc::clone(handler), Arc::clone(client));
    Box::pin(async move {
        let _ended = client.request().token().drop_guard();
        handler.called(&client).await
    })
}
