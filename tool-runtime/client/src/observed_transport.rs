//! Observes the messages of a connection. Notifications are handled here, in order: rmcp would start a task for each.

use super::disguised_errors::undisguised;
use super::notification_router::NotificationRouter;
use super::odd_answers::is_same_id;
use super::pending_requests::{PendingRequests, answered};
use super::probe::Probe;
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::error::Error;
use std::sync::Arc;
use tool_runtime_core::vocabulary::BoxFuture;

type Outgoing = TxJsonRpcMessage<RoleClient>;
type Incoming = RxJsonRpcMessage<RoleClient>;

/// The error of a transport.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(super) struct SendError(Box<dyn Error + Send + Sync>);

/// A type-erased transport, so that rmcp's service loop is compiled once.
trait AnyTransport: Send {
    fn send(&mut self, message: Outgoing) -> BoxFuture<'static, Result<(), SendError>>;
    fn receive(&mut self) -> BoxFuture<'_, Option<Incoming>>;
    fn close(&mut self) -> BoxFuture<'_, Result<(), SendError>>;
}

impl<T: Transport<RoleClient>> AnyTransport for T {
    fn send(&mut self, message: Outgoing) -> BoxFuture<'static, Result<(), SendError>> {
        let sent = Transport::send(self, message);
        Box::pin(async move { sent.await.map_err(|error| SendError(Box::new(error))) })
    }

    fn receive(&mut self) -> BoxFuture<'_, Option<Incoming>> {
        Box::pin(Transport::receive(self))
    }

    fn close(&mut self) -> BoxFuture<'_, Result<(), SendError>> {
        Box::pin(
            async move { Transport::close(self).await.map_err(|error| SendError(Box::new(error))) },
        )
    }
}

/// The messages of a connection.
pub(super) struct ObservedTransport {
    transport: Box<dyn AnyTransport>,
    notifications: Arc<NotificationRouter>,
    pending: PendingRequests,
    probe: Option<Probe>,
    /// The request of the handshake that waits for its answer. rmcp ends the connection at an answer to another one.
    handshake: Option<RequestId>,
}

impl ObservedTransport {
    pub(super) fn new(
        transport: impl Transport<RoleClient> + 'static,
        notifications: Arc<NotificationRouter>,
    ) -> Self {
        Self {
            transport: Box::new(transport),
            notifications,
            pending: PendingRequests::default(),
            probe: None,
            handshake: None,
        }
    }

    /// Limits the wait for an answer to `server/discover`.
    pub(super) fn with_probe(mut self, probe: Probe) -> Self {
        self.probe = Some(probe);
        self
    }

    /// Whether a message answers a request that was not sent, during the handshake.
    fn is_unasked(&mut self, message: &Incoming) -> bool {
        let answered = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let (Some(asked), Some(answered)) = (&self.handshake, answered) else { return false };
        !is_same_id(asked, answered)
    }
}

fn is_handshake(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::DiscoverRequest(_) | ClientRequest::InitializeRequest(_))
}

impl Transport<RoleClient> for ObservedTransport {
    type Error = SendError;

    fn send(
        &mut self,
        message: Outgoing,
    ) -> impl Future<Output = Result<(), SendError>> + Send + 'static {
        let message = undisguised(message);
        self.notifications.before_sending(&message);
        if let JsonRpcMessage::Request(request) = &message {
            let is_handshake = is_handshake(&request.request);
            self.handshake = is_handshake.then(|| request.id.clone());
        }
        if let Some(probe) = &mut self.probe {
            probe.before_sending(&message);
        }
        let answered = answered(&message).cloned().map(|id| (self.pending.clone(), id));
        let sent = self.transport.send(message);
        match answered {
            None => sent,
            Some((pending, id)) => Box::pin(async move {
                let sent = sent.await;
                pending.complete(&id);
                sent
            }),
        }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            self.pending.ready().await;
            let received = match &mut self.probe {
                None => self.transport.receive().await,
                Some(probe) => match probe.in_time(self.transport.receive()).await {
                    Ok(received) => received,
                    Err(instead) => return Some(instead),
                },
            };
            let Some(message) = received else {
                self.notifications.mark_closed();
                return None;
            };
            if self.probe.as_mut().is_some_and(|probe| probe.is_late(&message)) {
                tracing::debug!("a late answer to `server/discover` is ignored");
            } else if self.is_unasked(&message) {
                tracing::debug!("an answer to a request that was not sent is ignored");
            } else if !self.pending.register(&message) {
                tracing::debug!("a request with the id of a pending request is ignored");
            } else if let Some(message) = self.notifications.route(message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), SendError> {
        self.transport.close().await
    }
}
