//! The fast lane: a plain call runs in the task of its connection, without rmcp's service loop and
//! the tasks that it starts for every request.

use super::begun::Begun;
use super::events;
use super::plain::{Kind, PlainCall};
use super::plain_request::{PlainRequest, Way};
use super::reply::Reply;
use crate::isolation::first_polled;
use crate::mcp::server::audience::Session;
use crate::mcp::server::client::Client;
use crate::mcp::server::handler::PoolHandler;
use crate::mcp::server::request::Request;
use crate::mcp::server::tool_call::Called;
use crate::tool::BoxFuture;
use axum::http::request::Parts;
use axum::response::Response;
use futures_util::future::maybe_done;
use rmcp::model::ErrorData;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::Poll;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How many messages wait for a client that does not read, before the call does.
const AHEAD: usize = 16;

/// A call on its way. Dropping it cancels it.
pub(super) type Run = BoxFuture<'static, Result<Called, ErrorData>>;

/// Runs a call that has no session and answers it: by JSON, or by a stream if it has more to say
/// than its result.
pub(super) async fn answer(handler: &Arc<PoolHandler>, call: PlainCall, parts: Parts) -> Response {
    let (tell, mut told) = mpsc::channel(AHEAD);
    let session = Arc::clone(handler.session());
    let client = client(handler, call, parts, session, Way::Answer(tell.clone()));
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

/// Begins a call in a session and answers it, if it ends at once.
///
/// # Errors
/// It does not: with these parts rmcp goes on with it.
pub(super) async fn begin(
    handler: &Arc<PoolHandler>,
    call: PlainCall,
    parts: Parts,
    session: Arc<Session>,
) -> Result<Response, Box<Parts>> {
    let Some(peer) = session.peer() else { return Err(Box::new(parts)) };
    let way = Way::Session { peer, is_adopted: AtomicBool::new(false) };
    let client = client(handler, call, parts, session, way);
    let mut run = run(handler, &client);
    if let Poll::Ready(called) = first_polled(&mut run, client.first_poll()).await {
        return Ok(Reply::to(&client, called).into_response());
    }
    let mut parts = client.request().parts().cloned().expect("it came over HTTP");
    parts.extensions.insert(Begun::new(client, run));
    Err(Box::new(parts))
}

fn client(
    handler: &PoolHandler,
    call: PlainCall,
    mut parts: Parts,
    session: Arc<Session>,
    way: Way,
) -> Arc<Client> {
    if let Some(arguments) = call.arguments {
        parts.extensions.insert(arguments);
    }
    let request = PlainRequest {
        id: call.id,
        meta: call.meta,
        is_modern: call.kind == Kind::Modern,
        parts,
        token: CancellationToken::new(),
        way,
    };
    handler.client_in(session, Request::Plain(request), call.subject, call.round)
}

fn run(handler: &Arc<PoolHandler>, client: &Arc<Client>) -> Run {
    let (handler, client) = (Arc::clone(handler), Arc::clone(client));
    Box::pin(async move {
        let _ended = client.request().token().drop_guard();
        handler.called(&client).await
    })
}
