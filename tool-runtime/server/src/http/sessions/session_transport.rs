//! Observes the messages between rmcp and a session.

use super::problem::SessionProblem;
use super::routing::{self, cancelled};
use crate::in_flight::{InFlight, answered_id, cancelled_id};
use crate::passthrough;
use rmcp::RoleServer;
use rmcp::model::RequestId;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::lock;

/// The requests in flight of a session, and its end.
#[derive(Default)]
pub(super) struct SessionRequests {
    /// Each with the token of a call that rmcp does not know.
    running: Mutex<InFlight<Option<CancellationToken>>>,
    over: CancellationToken,
}

impl SessionRequests {
    /// Begins a request.
    ///
    /// # Errors
    /// A request with this id is in flight.
    pub(super) fn begin(
        &self,
        id: &RequestId,
        token: Option<CancellationToken>,
    ) -> Result<(), SessionProblem> {
        let begun = self.running().begin(id, token);
        begun.map_err(|error| SessionProblem::DuplicateId { request: id.clone(), error })
    }

    /// Ends the session, which cancels its requests.
    pub(super) fn end(&self) {
        self.over.cancel();
    }

    /// Ends a request without an answer of rmcp.
    pub(super) fn finish(&self, id: &RequestId) {
        self.running().end(id);
    }

    /// A token that is cancelled when the session ends, if not before.
    pub(super) fn until_end(&self) -> CancellationToken {
        self.over.child_token()
    }

    /// Cancels a call that rmcp does not know.
    pub(super) fn cancel(&self, id: &RequestId) {
        let token = self.running().end(id).flatten();
        if let Some(token) = token {
            token.cancel();
        }
    }

    fn running(&self) -> MutexGuard<'_, InFlight<Option<CancellationToken>>> {
        lock(&self.running)
    }
}

/// The transport of a session. At its end, it cancels the requests in flight: rmcp would wait for them
/// for five seconds.
pub(in crate::http) struct SessionTransport<T> {
    transport: T,
    ongoing: Arc<SessionRequests>,
}

impl<T> SessionTransport<T> {
    pub(super) fn new(transport: T, ongoing: Arc<SessionRequests>) -> Self {
        Self { transport, ongoing }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for SessionTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        if let Some(id) = answered_id(&message) {
            self.ongoing.running().end(id);
        }
        self.transport.send(routing::wrapped(passthrough::restored(message)))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let received = self.ongoing.over.run_until_cancelled(self.transport.receive()).await;
        let message = received.flatten().or_else(|| {
            let next_running = self.ongoing.running().take();
            next_running.map(|id| cancelled(id, "the session has ended"))
        })?;
        if let Some(id) = cancelled_id(&message) {
            self.ongoing.running().end(id);
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}
