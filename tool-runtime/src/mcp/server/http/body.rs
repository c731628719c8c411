//! Reads what a client sends, within its limits.

use super::refusal::{Refusal, Step};
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use http_body::Body as _;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use std::time::Duration;

/// How much is read of a body that nobody wants, and for how long.
const PATIENCE: (usize, Duration) = (16 << 20, Duration::from_secs(1));

/// The whole body.
///
/// # Errors
/// The answer to a body that is too long, too slow or broken off.
pub(super) async fn read(body: &mut Body, limit: usize, time: Duration) -> Step<Bytes> {
    if body.size_hint().lower() > limit as u64 {
        return Err(too_long(limit));
    }
    let read = tokio::time::timeout(time, Limited::new(body, limit).collect()).await;
    match read {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long(limit)),
        Ok(Err(error)) => {
            tracing::debug!(%error, "a body broke off");
            Err(Refusal::new(StatusCode::BAD_REQUEST, "the body of the request broke off"))
        }
        Err(_) => {
            let text = format!("the body did not arrive within {time:?}");
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, text))
        }
    }
}

/// Reads on for a moment, for nothing: a client that is cut off while it sends does not see the
/// answer.
pub(super) async fn skip(body: &mut Body) {
    let (bytes, time) = PATIENCE;
    let mut rest = Limited::new(body, bytes);
    let skipping = async { while let Some(Ok(_)) = rest.frame().await {} };
    let _read = tokio::time::timeout(time, skipping).await;
}

fn too_long(limit: usize) -> Refusal {
    let text = format!("the body is longer than the limit of {limit} bytes");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, text)
}
