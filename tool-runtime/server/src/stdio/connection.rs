//! The state of a connection that its reader, its calls and rmcp's loop share.

use super::call_state::CallState;
use super::fast_call::PlainCalls;
use super::requests::Requests;
use super::transport::CLOSE_TIMEOUT;
use super::writer::Writer;
use crate::exact;
use crate::in_flight::answered_id;
use crate::passthrough;
use crate::rejection::Rejection;
use rmcp::model::ServerJsonRpcMessage;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::lock;

/// State shared by the reader, the calls and the loop of one connection.
pub(crate) struct Connection {
    requests: Mutex<Requests>,
    pub(super) writer: Writer,
    /// Notified when a request has ended and [`Requests`] has a waiter.
    request_ended: Notify,
    plain_calls: OnceLock<Arc<PlainCalls>>,
    /// Cancelled when the input has ended, while calls may still run.
    pub(super) input_ended: CancellationToken,
    /// Cancelled when rmcp has closed the transport.
    pub(super) closed: CancellationToken,
}

impl Connection {
    pub(super) fn new(writer: Writer) -> Arc<Self> {
        Arc::new(Self {
            requests: Mutex::default(),
            writer,
            request_ended: Notify::new(),
            plain_calls: OnceLock::new(),
            input_ended: CancellationToken::new(),
            closed: CancellationToken::new(),
        })
    }

    pub(super) fn requests(&self) -> MutexGuard<'_, Requests> {
        lock(&self.requests)
    }

    /// Opens the fast path after the handshake.
    pub(crate) fn open(&self, plain_calls: PlainCalls) {
        // Fails only for a second handshake, which does not happen.
        drop(self.plain_calls.set(Arc::new(plain_calls)));
    }

    /// The fast path, if it is open.
    pub(super) fn plain_calls(&self) -> Option<&Arc<PlainCalls>> {
        self.plain_calls.get()
    }

    /// Waits until a request ends. A notification without a waiter is kept.
    pub(super) async fn request_ended(&self) {
        self.request_ended.notified().await;
    }

    /// Queues a message of rmcp.
    pub(super) fn send(&self, message: ServerJsonRpcMessage) -> io::Result<()> {
        if let Some(id) = answered_id(&message)
            && self.requests().answered(id)
        {
            self.request_ended.notify_one();
        }
        let message = passthrough::restored(message);
        match exact::message(&message) {
            Some(exact) => self.writer.push(&exact),
            None => self.writer.push(&message),
        }
    }

    /// Queues the answer to a call, unless the call has ended.
    pub(super) fn answer(&self, call: &CallState, json: &str) {
        if !call.finish() {
            return;
        }
        // Before the answer: the client may reuse the id as soon as it has the answer.
        let has_waiter = self.requests().answered(&call.id);
        // Fails only when the client reads no more.
        drop(self.writer.push_line(json));
        if has_waiter {
            self.request_ended.notify_one();
        }
    }

    /// Cancels the calls of the fast path, which answers them.
    pub(crate) fn cancel_calls(&self) {
        self.requests().cancel_calls();
    }

    /// Waits until no call of the fast path runs.
    pub(super) async fn all_answered(&self) {
        while !self.requests().is_idle() {
            self.request_ended().await;
        }
        // Another task may wait for the same notification.
        self.request_ended.notify_one();
    }

    /// Queues an error in answer to a line.
    pub(super) fn reject(&self, rejection: &Rejection) {
        tracing::debug!(?rejection, "rejecting a line");
        // Fails only when the client reads no more.
        drop(self.writer.push(rejection));
    }

    pub(super) fn flush(&self) {
        self.writer.flush();
    }

    /// Waits until everything is written. A client that reads nothing for some time gets no more.
    pub(crate) async fn drained(&self) -> io::Result<()> {
        tokio::select! {
            biased;
            drained = self.writer.drained() => drained,
            () = self.writer.stalled(CLOSE_TIMEOUT) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Whether the client has closed its end.
    pub(crate) fn is_broken(&self) -> bool {
        let error = self.writer.has_capacity().err().map(|error| error.kind());
        matches!(error, Some(io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset))
    }

    /// Drops answers that the client leaves unread for `limit` after the end of the input.
    pub(crate) async fn drop_unread(&self, limit: Duration) {
        self.input_ended.cancelled().await;
        self.writer.stalled(limit).await;
        self.writer.give_up();
    }
}
