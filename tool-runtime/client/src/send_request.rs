//! Sends a request and waits for its answer, within time limits. The server is notified when the wait ends
//! early.

use super::failure::Failure;
use super::in_flight_call::{Expiry, InFlightCall};
use super::notification_router::NotificationRouter;
use super::request_timeouts::RequestTimeouts;
use futures_util::future::{Either, select};
use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientRequest, RequestId, RequestMetaObject,
    ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use std::pin::pin;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// The wait for an answer.
#[derive(Clone, Copy)]
pub(super) enum Wait<'a> {
    /// A request outside a call.
    Alone(RequestTimeouts),
    /// A call, which may report progress.
    Call(&'a Arc<InFlightCall>),
}

/// Sends a request and waits for its answer.
pub(super) async fn send_request(
    peer: &Peer<RoleClient>,
    notifications: &NotificationRouter,
    ended: &CancellationToken,
    request: ClientRequest,
    meta: Option<RequestMetaObject>,
    wait: Wait<'_>,
) -> Result<ServerResult, Failure> {
    let end = match wait {
        Wait::Alone(timeouts) => timeouts.end(Instant::now()),
        Wait::Call(call) => call.deadline(),
    };
    let mut options = PeerRequestOptions::no_options();
    options.meta = meta;
    let sent = match timeout_at(end, peer.send_request_with_option(request, options)).await {
        Ok(sent) => sent.map_err(|_| Failure::Unsent(None))?,
        Err(_) => return Err(Failure::Unsent(None)),
    };
    let mut request =
        SentRequest { peer, notifications, request: Some((sent.id, sent.progress_token)) };
    let answered = answer_or_end(sent.rx, ended);
    let answer = match wait {
        Wait::Alone(timeouts) => timeout_at(end, answered).await.map_err(|_| timeouts.failure())?,
        Wait::Call(call) => match select(pin!(answered), pin!(call.expired())).await {
            Either::Left((answer, _)) => answer,
            Either::Right((Expiry::Silent, _)) => {
                return Err(Failure::Silent(call.timeouts().idle));
            }
            Either::Right((Expiry::Late, _)) => return Err(Failure::Late),
        },
    };
    request.answered();
    match answer {
        Some(Err(ServiceError::TransportClosed)) | None => Err(connection_lost(notifications)),
        Some(answer) => answer.map_err(Failure::from_error),
    }
}

/// The answer, or the end of the connection: a request that is sent while the connection ends may stay in a
/// queue that is no longer read.
async fn answer_or_end<T>(
    mut answer: oneshot::Receiver<T>,
    ended: &CancellationToken,
) -> Option<T> {
    tokio::select! {
        answer = &mut answer => answer.ok(),
        () = ended.cancelled() => answer.try_recv().ok(),
    }
}

fn connection_lost(notifications: &NotificationRouter) -> Failure {
    Failure::Lost(notifications.end().unwrap_or("the connection ended").to_owned())
}

/// A sent request. Dropping it before its answer cancels the request.
struct SentRequest<'a> {
    peer: &'a Peer<RoleClient>,
    notifications: &'a NotificationRouter,
    request: Option<(RequestId, rmcp::model::ProgressToken)>,
}

impl SentRequest<'_> {
    fn answered(&mut self) {
        if let Some((_, token)) = self.request.take() {
            self.notifications.forget(&token);
        }
    }
}

impl Drop for SentRequest<'_> {
    fn drop(&mut self) {
        let Some((id, token)) = self.request.take() else { return };
        self.notifications.forget(&token);
        let Ok(runtime) = Handle::try_current() else { return };
        let reason = "the caller does not wait for the answer any more".to_owned();
        let params = CancelledNotificationParam::new(Some(id), Some(reason));
        let (peer, notification) = (self.peer.clone(), CancelledNotification::new(params));
        // A server that does not read must not delay a caller that gave up.
        runtime.spawn(async move { drop(peer.send_notification(notification.into()).await) });
    }
}
