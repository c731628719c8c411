//! One request and its answer, within limits of time. The server hears of it when nobody waits for
//! the answer any more.

use super::hearing::Hearing;
use super::listener::{Expiry, Listener};
use super::transport::{is_unauthorized, is_unsent};
use futures_util::future::{Either, select};
use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientRequest, ErrorData, RequestId,
    RequestMetaObject, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// How long an answer may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Without a word of the server.
    pub(super) idle: Duration,
    /// Whatever the server says.
    pub(super) until: Option<Instant>,
}

/// Why a request has no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection had ended before, or nobody was there: the server has not worked at it.
    Unsent,
    /// The connection ended while the request was out: the server may have done it or not.
    Lost(String),
    /// The server wants to know who asks.
    Unauthorized(String),
    /// The server answered with an error of the protocol.
    Refused(ErrorData),
    /// The server said nothing for so long.
    Silent(Duration),
    /// The server took too long, whatever it said.
    Late,
}

/// How an answer is waited for.
#[derive(Clone, Copy)]
pub(super) enum Wait<'a> {
    /// By itself.
    Alone(Patience),
    /// As a call, which may be heard of while it runs.
    Call(&'a Arc<Listener>),
}

/// Sends a request and waits for its answer.
pub(super) async fn exchange(
    peer: &Peer<RoleClient>,
    (hearing, ended): (&Hearing, &CancellationToken),
    request: ClientRequest,
    meta: Option<RequestMetaObject>,
    wait: Wait<'_>,
) -> Result<ServerResult, Failure> {
    let end = match wait {
        Wait::Alone(patience) => patience.end(Instant::now()),
        Wait::Call(listener) => listener.deadline(),
    };
    let mut options = PeerRequestOptions::no_options();
    options.meta = meta;
    let sent = match timeout_at(end, peer.send_request_with_option(request, options)).await {
        Ok(sent) => sent.map_err(|_| Failure::Unsent)?,
        Err(_) => return Err(Failure::Unsent),
    };
    let mut abandoned = Abandoned { peer, hearing, request: Some((sent.id, sent.progress_token)) };
    let answered = answer_or_end(sent.rx, ended);
    let answer = match wait {
        Wait::Alone(patience) => timeout_at(end, answered).await.map_err(|_| patience.over())?,
        Wait::Call(listener) => match select(pin!(answered), pin!(listener.expired())).await {
            Either::Left((answer, _)) => answer,
            Either::Right((Expiry::Silent, _)) => {
                return Err(Failure::Silent(listener.patience().idle));
            }
            Either::Right((Expiry::Late, _)) => return Err(Failure::Late),
        },
    };
    abandoned.answered();
    match answer {
        Some(Err(ServiceError::TransportClosed)) | None => Err(Failure::lost(hearing)),
        Some(answer) => answer.map_err(Failure::of),
    }
}

/// What the server answered before the connection ended. A request that is sent while the
/// connection ends may be in a queue that nobody reads any more, with whoever would answer it.
async fn answer_or_end<T>(
    mut answer: oneshot::Receiver<T>,
    ended: &CancellationToken,
) -> Option<T> {
    tokio::select! {
        answer = &mut answer => answer.ok(),
        () = ended.cancelled() => answer.try_recv().ok(),
    }
}

impl Patience {
    /// When it ends, if nothing is heard after `last`.
    pub(super) fn end(self, last: Instant) -> Instant {
        // An instant too far to be named never comes.
        let far = || last + Duration::from_secs(86_400 * 365);
        let idle = last.checked_add(self.idle).unwrap_or_else(far);
        self.until.map_or(idle, |until| idle.min(until))
    }

    /// Waits for something that is not the server's to do: a person may take all the time there is.
    pub(super) async fn in_time<T>(self, work: impl Future<Output = T>) -> Result<T, Failure> {
        match self.until {
            Some(until) => timeout_at(until, work).await.map_err(|_| Failure::Late),
            None => Ok(work.await),
        }
    }

    /// What it is that it is over now.
    pub(super) fn over(self) -> Failure {
        let is_late = self.until.is_some_and(|until| Instant::now() >= until);
        if is_late { Failure::Late } else { Failure::Silent(self.idle) }
    }
}

impl Failure {
    fn lost(hearing: &Hearing) -> Self {
        Self::Lost(hearing.end().unwrap_or("the connection ended").to_owned())
    }

    fn of(error: ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => Self::Refused(error),
            ServiceError::TransportSend(error) if is_unauthorized(&error) => {
                Self::Unauthorized(leaf(error.error.as_ref()))
            }
            ServiceError::TransportSend(error) if is_unsent(&error) => Self::Unsent,
            ServiceError::TransportSend(error) => Self::Lost(leaf(error.error.as_ref())),
            other => Self::Lost(other.to_string()),
        }
    }
}

/// What went wrong at the bottom of it, with what each layer adds.
pub(super) fn leaf(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    for _ in 0..16 {
        let Some(cause) = next else { break };
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}

/// A request that is out. Dropped before its answer, it is taken back.
struct Abandoned<'a> {
    peer: &'a Peer<RoleClient>,
    hearing: &'a Hearing,
    request: Option<(RequestId, rmcp::model::ProgressToken)>,
}

impl Abandoned<'_> {
    fn answered(&mut self) {
        if let Some((_, token)) = self.request.take() {
            self.hearing.forget(&token);
        }
    }
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        let Some((id, token)) = self.request.take() else { return };
        self.hearing.forget(&token);
        let Ok(runtime) = Handle::try_current() else { return };
        let reason = "nobody waits for the answer any more".to_owned();
        let params = CancelledNotificationParam::new(Some(id), Some(reason));
        let (peer, notification) = (self.peer.clone(), CancelledNotification::new(params));
        // A server that does not read must not hold up whoever gave up.
        runtime.spawn(async move { drop(peer.send_notification(notification.into()).await) });
    }
}
