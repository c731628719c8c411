//! A call on the fast path, in the task of its connection.
//!
//! Limit: calls in sessions go through rmcp, where their clients can be asked, can cancel them, and
//! can come back for the answer.

use super::events;
use super::plain_request::PlainRequest;
use super::reply::Reply;
use crate::call_result::Called;
use crate::client::Client;
use crate::fast_path::{Answer, PlainCall};
use crate::handler::PoolHandler;
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

/// The client of a call, and the messages that it is sent before the answer.
pub(super) struct Caller {
    client: Arc<Client>,
    messages: mpsc::Sender<Reply>,
    sent: mpsc::Receiver<Reply>,
}

impl Caller {
    pub(super) fn new(
        handler: &PoolHandler,
        call: PlainCall<'_>,
        parts: Parts,
        is_modern: bool,
    ) -> Self {
        let (messages, sent) = mpsc::channel(MAX_QUEUED);
        let request = PlainRequest {
            id: call.id,
            meta: call.meta,
            is_modern,
            parts,
            token: CancellationToken::new(),
            messages: messages.clone(),
        };
        Self { client: handler.client(request, call.subject, call.round), messages, sent }
    }

    /// Runs the call and answers it: by JSON, or by a stream if it has more to say than its result.
    pub(super) async fn answer(self, handler: &Arc<PoolHandler>) -> Response {
        let Self { client, messages, mut sent } = self;
        let mut run = maybe_done(run(handler, &client));
        let first = tokio::select! {
            biased;
            () = &mut run => sent.try_recv().ok(),
            first = sent.recv() => first,
        };
        let last = async move {
            (&mut run).await;
            let called = Pin::new(&mut run).take_output()?;
            Some(Reply::answer(Answer::new(&client, called), client.is_modern()))
        };
        match first {
            Some(first) => events::stream(first, sent, async move {
                if let Some(last) = last.await {
                    drop(messages.send(last).await);
                }
            }),
            None => last.await.map_or_else(Response::default, Reply::into_response),
        }
    }
}

fn run(handler: &Arc<PoolHandler>, client: &Arc<Client>) -> Run {
    let (handler, client) = (Arc::clone(handler), Arc::clone(client));
    Box::pin(async move {
        let _ended = client.request().token().drop_guard();
        handler.called(&client).await
    })
}
