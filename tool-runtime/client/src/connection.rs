//! A connection to a server.

use super::disguised_errors::DisguisingErrors;
use super::failure::Failure;
use super::in_flight_call::InFlightCall;
use super::notification_router::NotificationRouter;
use super::request_timeouts::RequestTimeouts;
use super::send_request::{Wait, send_request};
use super::server_requests::Answerer;
use super::trace;
use super::transport::ConnectionOwner;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, RequestMetaObject, ServerCapabilities, ServerPeerInfo, ServerResult,
    SubscriptionFilter,
};
use rmcp::service::{Peer, RunningService};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::{Instrument as _, Span};

/// Time limit of rmcp's shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// A connection to a server. Dropping it ends the connection.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    notifications: Arc<NotificationRouter>,
    answerer: Answerer,
    info: Option<Arc<ServerPeerInfo>>,
    /// Cancelled to end rmcp's service.
    end: CancellationToken,
    /// Cancelled when rmcp's service has ended.
    ended: CancellationToken,
    owner: Option<Arc<dyn ConnectionOwner>>,
    /// The transport, as the conventions of OpenTelemetry name it: `pipe` or `tcp`.
    transport: &'static str,
    /// Open as long as the connection.
    _span: Span,
}

/// The end of a connection.
pub(super) struct Lifetime {
    /// Cancelled to end rmcp's service.
    pub(super) end: CancellationToken,
    /// Cancelled when rmcp's service has ended.
    pub(super) ended: CancellationToken,
    /// Cancels `ended`.
    pub(super) end_guard: DropGuard,
}

impl Connection {
    pub(super) fn new(
        running: RunningService<RoleClient, DisguisingErrors>,
        notifications: Arc<NotificationRouter>,
        answerer: Answerer,
        Lifetime { end, ended, end_guard }: Lifetime,
        owner: Option<Arc<dyn ConnectionOwner>>,
    ) -> Self {
        let peer = running.peer().clone();
        let info = peer.peer_info();
        tokio::spawn(async move {
            drop(running.waiting().await);
            drop(end_guard);
        });
        let (watch, until) = (Arc::clone(&notifications), ended.clone());
        tokio::spawn(async move { until.run_until_cancelled(watch.expire_calls()).await });
        if let Some(owner) = owner.clone() {
            // Descendants of an ended process may hold its output open.
            let (end, ended) = (end.clone(), ended.clone());
            tokio::spawn(async move {
                ended.run_until_cancelled(owner.closed()).await;
                end.cancel();
            });
        }
        let is_http = owner.as_ref().is_some_and(|owner| owner.loses_single_requests());
        let transport = if is_http { "tcp" } else { "pipe" };
        let span = trace::session(notifications.server(), transport);
        Self { peer, notifications, answerer, info, end, ended, owner, transport, _span: span }
    }

    pub(super) fn notifications(&self) -> &Arc<NotificationRouter> {
        &self.notifications
    }

    /// The handler of server requests.
    pub(super) fn answerer(&self) -> &Answerer {
        &self.answerer
    }

    /// Whether the server uses 2026-07-28 or later.
    pub(super) fn is_stateless(&self) -> bool {
        self.info.as_ref().is_some_and(|info| !info.protocol_version.has_initialize())
    }

    /// Whether calls repeat marked arguments as headers.
    pub(super) fn has_param_headers(&self) -> bool {
        self.is_stateless() && self.is_http()
    }

    /// Whether requests are independent.
    fn is_http(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| owner.loses_single_requests())
    }

    pub(super) fn info(&self) -> Option<&ServerPeerInfo> {
        self.info.as_deref()
    }

    pub(super) fn capabilities(&self) -> Option<&ServerCapabilities> {
        self.info.as_ref().map(|info| &info.capabilities)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.end.is_cancelled() || self.ended.is_cancelled() || self.peer.is_transport_closed()
    }

    /// Waits until the connection has ended.
    pub(super) async fn closed(&self) {
        self.ended.cancelled().await;
    }

    /// The reason if this process ended the connection, and the last lines of the server's standard error.
    pub(super) async fn exit_report(&self) -> Option<String> {
        let report = match &self.owner {
            Some(owner) => owner.exit_report().await,
            None => None,
        };
        let parts = self.notifications.end().map(str::to_owned).into_iter().chain(report);
        parts.reduce(|reason, report| format!("{reason}; {report}"))
    }

    pub(super) async fn request(
        &self,
        request: ClientRequest,
        timeouts: RequestTimeouts,
    ) -> Result<ServerResult, Failure> {
        self.request_with(request, None, timeouts).await
    }

    /// Sends a request with `_meta`.
    pub(super) async fn request_with(
        &self,
        request: ClientRequest,
        meta: Option<RequestMetaObject>,
        timeouts: RequestTimeouts,
    ) -> Result<ServerResult, Failure> {
        self.send(request, meta, Wait::Alone(timeouts)).await
    }

    /// Sends a request that may report progress.
    pub(super) async fn request_for_call(
        &self,
        request: ClientRequest,
        meta: Option<RequestMetaObject>,
        call: &Arc<InFlightCall>,
    ) -> Result<ServerResult, Failure> {
        self.send(request, meta, Wait::Call(call)).await
    }

    async fn send(
        &self,
        request: ClientRequest,
        meta: Option<RequestMetaObject>,
        wait: Wait<'_>,
    ) -> Result<ServerResult, Failure> {
        let span = trace::request(self.notifications.server(), self.transport, &request);
        let meta = trace::carried(meta, &span);
        let answer =
            send_request(&self.peer, &self.notifications, &self.ended, request, meta, wait);
        let answer = answer.instrument(span.clone()).await;
        trace::end(&span, &answer);
        answer
    }

    /// Subscribes to changes of the tool list, and waits for the end of the subscription. Changes after the end are not
    /// notified.
    pub(super) async fn subscribed(&self) {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        match self.peer.listen(filter).await {
            Ok(mut subscription) => {
                // Earlier changes were not notified.
                self.notifications.changed().notify();
                // The router handles the notifications.
                while let Ok(Some(_)) = subscription.next().await {}
            }
            Err(error) => tracing::debug!("no subscription: {error}"),
        }
    }

    /// Ends the connection if it is unusable after a failure.
    pub(super) fn end_after(&self, failure: &Failure) {
        let is_unusable = match failure {
            Failure::Unsent(_) | Failure::Unauthorized(_) => true,
            // Over HTTP, requests are independent.
            Failure::Lost(_) => !self.is_http(),
            Failure::Rejected(_) | Failure::Silent(_) | Failure::Late => false,
        };
        if is_unusable {
            self.end.cancel();
        }
    }

    /// Ends the connection gracefully, or by force after a time limit.
    pub(super) async fn close(&self) {
        self.end.cancel();
        drop(timeout(SHUTDOWN_TIMEOUT, self.ended.cancelled()).await);
        if let Some(owner) = &self.owner {
            owner.close().await;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.end.cancel();
    }
}
