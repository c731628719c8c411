//! Reads request bodies within limits.

use super::http_rejection::{HttpRejection, HttpResult};
use super::pending_bodies::{PendingBodies, PendingBody};
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use futures_util::FutureExt as _;
use http_body::{Body as _, Frame};
use http_body_util::{BodyExt as _, Collected, LengthLimitError, Limited};
use std::error::Error;
use std::pin::pin;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The outcome of reading a body.
type Read = Result<Collected<Bytes>, Box<dyn Error + Send + Sync>>;

/// The whole body.
///
/// # Errors
/// The response to a body that is too long, too slow, incomplete, or dropped in favour of newer ones.
pub(super) async fn read(
    body: &mut Body,
    limit: usize,
    time: Duration,
    all: &Arc<PendingBodies>,
) -> HttpResult<Bytes> {
    if body.size_hint().lower() > limit as u64 {
        return Err(too_long(limit));
    }
    let progress = Progress::default();
    let counted = body.map_frame(|frame| progress.count(frame));
    let mut whole = pin!(Limited::new(counted, limit).collect());
    // Most bodies arrive with their headers, and are never pending.
    if let Some(read) = whole.as_mut().now_or_never() {
        return into_bytes(read, limit);
    }
    let pending = progress.wait(all);
    tokio::select! {
        biased;
        read = tokio::time::timeout(time, whole) => match read {
            Ok(read) => into_bytes(read, limit),
            Err(_) => Err(too_slow(time)),
        },
        () = pending.dropped() => Err(HttpRejection::busy(
            "too many messages are arriving, and this one began first; send it again",
        )),
    }
}

/// The received bytes of a body.
#[derive(Default)]
struct Progress {
    received: AtomicUsize,
    pending: OnceLock<PendingBody>,
}

impl Progress {
    fn count(&self, frame: Frame<Bytes>) -> Frame<Bytes> {
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        match self.pending.get() {
            Some(pending) => pending.grow(bytes),
            None => drop(self.received.fetch_add(bytes, Ordering::Relaxed)),
        }
        frame
    }

    fn wait(&self, all: &Arc<PendingBodies>) -> &PendingBody {
        self.pending.get_or_init(|| all.add(self.received.load(Ordering::Relaxed)))
    }
}

fn into_bytes(read: Read, limit: usize) -> HttpResult<Bytes> {
    match read {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_long(limit)),
        Err(error) => {
            tracing::debug!(%error, "a request body is incomplete");
            Err(HttpRejection::new(
                StatusCode::BAD_REQUEST,
                "the body of the request is incomplete",
            ))
        }
    }
}

fn too_long(limit: usize) -> HttpRejection {
    let text = format!("the body is longer than the limit of {limit} bytes");
    HttpRejection::new(StatusCode::PAYLOAD_TOO_LARGE, text)
}

fn too_slow(time: Duration) -> HttpRejection {
    let text = format!("the body did not arrive within {time:?}");
    HttpRejection::new(StatusCode::REQUEST_TIMEOUT, text)
}
