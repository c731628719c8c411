//! The state of a connection that its reader, its calls and rmcp's loop share.

use super::call_state::CallState;
use super::inbound::Inbound;
use super::plain_calls::PlainCalls;
use super::writer::Writer;
use crate::exact;
use crate::in_flight::answered;
use crate::passing;
use crate::rejection::Rejection;
use rmcp::RoleServer;
use rmcp::service::TxJsonRpcMessage;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::lock;

/// State shared by the reader, the calls and the loop of one connection.
pub(super) struct Connection {
    inbound: Mutex<Inbound>,
    pub(super) writer: Writer,
    /// Signalled when there is place for a request that waits, and when no call runs any more.
    changed: Notify,
    plain_calls: OnceLock<Arc<PlainCalls>>,
    /// Cancelled when rmcp has closed the transport.
    pub(super) closed: CancellationToken,
}

impl Connection {
    pub(super) fn new(writer: Writer) -> Arc<Self> {
        Arc::new(Self {
            inbound: Mutex::default(),
            writer,
            changed: Notify::new(),
            plain_calls: OnceLock::new(),
            closed: CancellationToken::new(),
        })
    }

    pub(super) fn inbound(&self) -> MutexGuard<'_, Inbound> {
        lock(&self.inbound)
    }

    /// Opens the fast path: the handshake is over.
    pub(super) fn open(&self, plain_calls: PlainCalls) {
        // There is one handshake.
        drop(self.plain_calls.set(Arc::new(plain_calls)));
    }

    /// The fast path, if it is open.
    pub(super) fn plain_calls(&self) -> Option<&Arc<PlainCalls>> {
        self.plain_calls.get()
    }

    /// Waits for a place that has become free, or the end of the last call. A signal that nobody waits
    /// for is kept.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Queues a message of rmcp's.
    pub(super) fn send(&self, message: TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
        if let Some(id) = answered(&message)
            && self.inbound().answered(id)
        {
            self.changed.notify_one();
        }
        let message = passing::restored(message);
        match exact::message(&message) {
            Some(exact) => self.writer.push(&exact),
            None => self.writer.push(&message),
        }
    }

    /// Queues the answer to a call, unless it is over.
    pub(super) fn answer(&self, call: &CallState, json: &str) {
        if !call.finish() {
            return;
        }
        let is_waited_for = self.inbound().answered(&call.id);
        // Fails only when the client reads no more.
        drop(self.writer.push_line(json));
        if is_waited_for {
            self.changed.notify_one();
        }
    }

    /// Waits until no call of the fast path runs.
    pub(super) async fn all_answered(&self) {
        while !self.inbound().is_idle() {
            self.changed().await;
        }
        // Others may wait for the same.
        self.changed.notify_one();
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
}
