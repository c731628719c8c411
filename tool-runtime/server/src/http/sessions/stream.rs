//! A message stream to a client, watched for its end.

use super::replay_buffer::{Messages, ReplayBuffer};
use super::routing;
use super::session::Session;
use crate::in_flight::answered_id;
use futures_util::{Stream, stream};
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;

/// A stream of messages, watched if its session is known.
pub(super) struct Watched {
    stream: Messages,
    watch: Option<Watch>,
    /// When it is closed although it could go on.
    end: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    pub(super) fn new(
        stream: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
        watch: Option<Watch>,
    ) -> Self {
        Self { stream: Box::pin(stream), watch, end: None }
    }

    /// Closes it after some time; its client comes back for the rest.
    pub(super) fn for_at_most(mut self, limit: Option<Duration>) -> Self {
        self.end = limit.map(|limit| Box::pin(tokio::time::sleep(limit)));
        self
    }

    /// Whether its time is over, and its client knows how to come back.
    fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        let is_numbered = self.watch.as_ref().is_some_and(|watch| watch.number.is_some());
        let end = self.end.as_mut().filter(|_| is_numbered);
        end.is_some_and(|end| end.as_mut().poll(context).is_ready())
    }
}

impl Stream for Watched {
    type Item = ServerSseMessage;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<ServerSseMessage>> {
        let Poll::Ready(message) = self.stream.as_mut().poll_next(context) else {
            return if self.is_over(context) { Poll::Ready(None) } else { Poll::Pending };
        };
        if let (Some(message), Some(watch)) = (&message, &mut self.watch) {
            watch.see(message);
        }
        Poll::Ready(message.map(routing::unpacked))
    }
}

/// What still comes is kept for the client, who may come back for it.
impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(watch) = &self.watch {
            watch.keep(mem::replace(&mut self.stream, Box::pin(stream::empty())));
        }
    }
}

/// Owns the sessions.
pub(super) trait Owner: Send + Sync {
    /// The client has closed the stream on which it waited for an answer.
    fn abandoned(&self, id: SessionId, request: RequestId, stream: Option<u64>);
}

/// Sees whether the answer to a request was sent before its stream ends.
pub(super) struct Watch {
    owner: Weak<dyn Owner>,
    id: SessionId,
    session: Arc<Session>,
    /// Which answer it waits for.
    request: Option<RequestId>,
    /// The number by which clients come back to the stream.
    number: Option<u64>,
}

impl Watch {
    /// Watches a stream that is opened, for the answer to a request if it is for one.
    pub(super) fn new(
        owner: Weak<dyn Owner>,
        id: SessionId,
        session: Arc<Session>,
        request: Option<RequestId>,
    ) -> Self {
        session.open();
        Self { owner, id, session, request, number: None }
    }

    /// Watches a stream that goes on with the answer that another one was for.
    pub(super) fn resumed(
        owner: Weak<dyn Owner>,
        id: SessionId,
        session: Arc<Session>,
        stream: Option<u64>,
    ) -> Self {
        let request = stream.and_then(|stream| session.request_on(stream));
        let mut watch = Self::new(owner, id, session, request);
        if let Some(stream) = stream {
            watch.is_numbered(stream);
        }
        watch
    }

    /// The stream's number becomes known.
    pub(super) fn is_numbered(&mut self, number: u64) {
        if let (Some(request), None) = (&self.request, self.number) {
            self.session.listen(number, request);
            self.number = Some(number);
        }
    }

    fn keep(&self, stream: Messages) {
        if let (Some(_), Some(number)) = (&self.request, self.number) {
            self.session.keep_for(number, ReplayBuffer::new(stream));
        }
    }

    fn see(&mut self, message: &ServerSseMessage) {
        if let Some(number) = message.event_id.as_deref().and_then(number) {
            self.is_numbered(number);
        }
        let answered = message.message.as_deref().and_then(answered_id);
        if answered.is_some() && answered == self.request.as_ref() {
            self.request = None;
            if let Some(number) = self.number {
                self.session.answered(number);
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.session.close(self.number);
        if let (Some(request), Some(owner)) = (self.request.take(), self.owner.upgrade()) {
            owner.abandoned(Arc::clone(&self.id), request, self.number);
        }
    }
}

/// The number of the stream in the id of an event: `index/number`, as rmcp makes them.
pub(super) fn number(event: &str) -> Option<u64> {
    event.split_once('/')?.1.parse().ok()
}
