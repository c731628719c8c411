//! A connection to a server.

use super::failure::Failure;
use super::in_flight_call::InFlightCall;
use super::notification_router::NotificationRouter;
use super::refused::Refusing;
use super::request_timeouts::RequestTimeouts;
use super::send_request::{Wait, send_request};
use super::server_requests::Answerer;
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

/// Time limit of rmcp's shutdown.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// A connection to a server. Dropped, it ends.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    notifications: Arc<NotificationRouter>,
    answerer: Answerer,
    info: Option<Arc<ServerPeerInfo>>,
    /// Cancelled, it ends rmcp's part.
    end: CancellationToken,
    /// Cancelled when rmcp's part has ended.
    ended: CancellationToken,
    behind: Option<Arc<dyn ConnectionOwner>>,
}

impl Connection {
    pub(super) fn new(
        running: RunningService<RoleClient, Refusing>,
        (notifications, answerer): (Arc<NotificationRouter>, Answerer),
        (end, ended, over): (CancellationToken, CancellationToken, DropGuard),
        behind: Option<Arc<dyn ConnectionOwner>>,
    ) -> Self {
        let peer = running.peer().clone();
        let info = peer.peer_info();
        tokio::spawn(async move {
            drop(running.waiting().await);
            drop(over);
        });
        let (watch, over) = (Arc::clone(&notifications), ended.clone());
        tokio::spawn(async move { over.run_until_cancelled(watch.keep_time()).await });
        if let Some(behind) = behind.clone() {
            // What it left behind may hold its output open for ever.
            let (end, ended) = (end.clone(), ended.clone());
            tokio::spawn(async move {
                ended.run_until_cancelled(behind.gone()).await;
                end.cancel();
            });
        }
        Self { peer, notifications, answerer, info, end, ended, behind }
    }

    pub(super) fn notifications(&self) -> &Arc<NotificationRouter> {
        &self.notifications
    }

    /// The handler of server requests.
    pub(super) fn answerer(&self) -> &Answerer {
        &self.answerer
    }

    /// Whether it speaks 2026-07-28 or later.
    pub(super) fn is_modern(&self) -> bool {
        self.info.as_ref().is_some_and(|info| !info.protocol_version.has_initialize())
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

    /// Waits until it has ended.
    pub(super) async fn closed(&self) {
        self.ended.cancelled().await;
    }

    /// The reason why we ended the connection, if we did, and the last lines of the server's standard error.
    pub(super) async fn last_words(&self) -> Option<String> {
        let words = match &self.behind {
            Some(behind) => behind.last_words().await,
            None => None,
        };
        let parts = self.notifications.end().map(str::to_owned).into_iter().chain(words);
        parts.reduce(|why, words| format!("{why}; {words}"))
    }

    pub(super) async fn request(
        &self,
        request: ClientRequest,
        timeouts: RequestTimeouts,
    ) -> Result<ServerResult, Failure> {
        self.request_with(request, None, timeouts).await
    }

    /// Sends a request with more about it than what it says.
    pub(super) async fn request_with(
        &self,
        request: ClientRequest,
        meta: Option<RequestMetaObject>,
        timeouts: RequestTimeouts,
    ) -> Result<ServerResult, Failure> {
        send_request(&self.peer, self.around(), request, meta, Wait::Alone(timeouts)).await
    }

    /// Sends a request that may report progress.
    pub(super) async fn request_heard(
        &self,
        request: ClientRequest,
        meta: Option<RequestMetaObject>,
        call: &Arc<InFlightCall>,
    ) -> Result<ServerResult, Failure> {
        send_request(&self.peer, self.around(), request, meta, Wait::Call(call)).await
    }

    /// The notifications of the connection.
    fn around(&self) -> (&NotificationRouter, &CancellationToken) {
        (&self.notifications, &self.ended)
    }

    /// Hears of changes of the list of tools until the connection ends, where the server tells
    /// only who asks. It may end earlier, by the server's will: what changed then is unknown.
    pub(super) async fn subscribed(&self) {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        match self.peer.listen(filter).await {
            Ok(mut subscription) => {
                // Earlier changes were not notified.
                self.notifications.changed().notify();
                // The router gets its notifications.
                while let Ok(Some(_)) = subscription.next().await {}
            }
            Err(error) => tracing::debug!("no subscription: {error}"),
        }
    }

    /// Ends it without waiting if it is of no use any more after such a failure.
    pub(super) fn give_up_after(&self, failure: &Failure) {
        let stands = || self.behind.as_ref().is_some_and(|behind| behind.loses_single_requests());
        let is_over = match failure {
            Failure::Unsent(_) | Failure::Unauthorized(_) => true,
            // Whatever carries it: what loses a request is not trusted with the next one.
            Failure::Lost(_) => !stands(),
            Failure::Refused(_) | Failure::Silent(_) | Failure::Late => false,
        };
        if is_over {
            self.end.cancel();
        }
    }

    /// Ends it: gracefully, then in any case.
    pub(super) async fn close(&self) {
        self.end.cancel();
        drop(timeout(LAST_WORDS, self.ended.cancelled()).await);
        if let Some(behind) = &self.behind {
            behind.close().await;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.end.cancel();
    }
}
