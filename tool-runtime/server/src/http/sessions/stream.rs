//! Message streams to clients, watched for their end.

use super::Sessions;
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
pub(super) struct WatchedStream {
    stream: Messages,
    watch: Option<AnswerWatch>,
    /// The time limit of the stream.
    end: Option<Pin<Box<Sleep>>>,
}

impl WatchedStream {
    pub(super) fn new(
        stream: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
        watch: Option<AnswerWatch>,
    ) -> Self {
        Self { stream: Box::pin(stream), watch, end: None }
    }

    /// Closes the stream after some time; its client resumes it.
    pub(super) fn for_at_most(mut self, limit: Option<Duration>) -> Self {
        self.end = limit.map(|limit| Box::pin(tokio::time::sleep(limit)));
        self
    }

    /// Whether the time has passed, and the client has an event id to resume from.
    fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        let is_numbered = self.watch.as_ref().is_some_and(|watch| watch.number.is_some());
        let end = self.end.as_mut().filter(|_| is_numbered);
        end.is_some_and(|end| end.as_mut().poll(context).is_ready())
    }
}

impl Stream for WatchedStream {
    type Item = ServerSseMessage;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<ServerSseMessage>> {
        let Poll::Ready(message) = self.stream.as_mut().poll_next(context) else {
            return if self.is_over(context) { Poll::Ready(None) } else { Poll::Pending };
        };
        if let (Some(message), Some(watch)) = (&message, &mut self.watch) {
            watch.observe(message);
        }
        Poll::Ready(message.map(routing::unwrapped))
    }
}

/// Buffers more messages for a client that resumes the stream.
impl Drop for WatchedStream {
    fn drop(&mut self) {
        if let Some(watch) = &self.watch {
            watch.buffer(mem::replace(&mut self.stream, Box::pin(stream::empty())));
        }
    }
}

/// Notices whether the answer to a request is sent before its stream ends.
pub(super) struct AnswerWatch {
    sessions: Weak<Sessions>,
    id: SessionId,
    session: Arc<Session>,
    /// The request whose answer the stream is for.
    request: Option<RequestId>,
    /// The number by which clients resume the stream.
    number: Option<u64>,
}

impl AnswerWatch {
    /// Watches a new stream, for the answer to `request` if there is one.
    pub(super) fn new(
        sessions: Weak<Sessions>,
        id: SessionId,
        session: Arc<Session>,
        request: Option<RequestId>,
    ) -> Self {
        session.open();
        Self { sessions, id, session, request, number: None }
    }

    /// Watches a stream that resumes another one.
    pub(super) fn resumed(
        sessions: Weak<Sessions>,
        id: SessionId,
        session: Arc<Session>,
        stream: Option<u64>,
    ) -> Self {
        let request = stream.and_then(|stream| session.request_on(stream));
        let mut watch = Self::new(sessions, id, session, request);
        if let Some(stream) = stream {
            watch.set_number(stream);
        }
        watch
    }

    /// Sets the number of the stream, once it is known.
    fn set_number(&mut self, number: u64) {
        if let (Some(request), None) = (&self.request, self.number) {
            self.session.listen(number, request);
            self.number = Some(number);
        }
    }

    fn buffer(&self, stream: Messages) {
        if let (Some(_), Some(number)) = (&self.request, self.number) {
            self.session.set_replay(number, ReplayBuffer::new(stream));
        }
    }

    fn observe(&mut self, message: &ServerSseMessage) {
        if let Some(number) = message.event_id.as_deref().and_then(number) {
            self.set_number(number);
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

impl Drop for AnswerWatch {
    fn drop(&mut self) {
        self.session.close(self.number);
        if let (Some(request), Some(sessions)) = (self.request.take(), self.sessions.upgrade()) {
            sessions.abandoned(Arc::clone(&self.id), request, self.number);
        }
    }
}

/// The number of the stream in the id of an event, which rmcp writes as `index/number`.
pub(super) fn number(event: &str) -> Option<u64> {
    event.split_once('/')?.1.parse().ok()
}
