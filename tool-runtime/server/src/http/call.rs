//! A call without a session on the fast path, in the task of its connection.

use super::fast_request::{Channel, FastRequest, run};
use super::reply::{self, Reply};
use crate::fast_path::{Answer, PlainCall};
use crate::handler::PoolHandler;
use axum::http::request::Parts;
use axum::response::Response;
use futures_util::future::maybe_done;
use rmcp::model::ServerNotification;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::vocabulary::BoxFuture;

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
    let (token, channel) = (CancellationToken::new(), ResponseChannel(messages.clone()));
    let request = FastRequest { id, meta, is_stateless, parts, token, channel };
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

/// Sends the messages of a call in the response to its request. The client cannot respond to requests of the server.
struct ResponseChannel(mpsc::Sender<Reply>);

impl Channel for ResponseChannel {
    fn notify(&self, message: ServerNotification) -> BoxFuture<'_, ()> {
        Box::pin(async { drop(self.0.send(Reply::notification(message)).await) })
    }
}
