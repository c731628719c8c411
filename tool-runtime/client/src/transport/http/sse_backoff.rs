//! Limits the reconnection delays that event streams request.

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use rmcp::transport::common::client_side_sse::SseRetryPolicy;
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::sleep;

use crate::backoff::Backoff;

pub(super) type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Limits on the requested reconnection delay, in milliseconds.
const SHORTEST_RETRY: u64 = 100;
const LONGEST_RETRY: u64 = 60_000;

/// The reconnection policy of streams.
#[derive(Debug)]
pub(super) struct ReconnectPolicy(pub(super) Backoff);

impl Default for ReconnectPolicy {
    fn default() -> Self {
        Self(Backoff { max: Duration::from_secs(30), ..Backoff::default() })
    }
}

impl SseRetryPolicy for ReconnectPolicy {
    fn retry(&self, times: usize) -> Option<Duration> {
        Some(self.0.pause(u32::try_from(times).unwrap_or(u32::MAX).saturating_add(1)))
    }
}

/// Bounds the requested reconnection delay. rmcp reopens a broken stream immediately, so its error
/// is delayed, longer for each stream in a row without an event.
pub(super) fn with_bounded_retry(events: Events, breaks: Arc<AtomicU32>) -> Events {
    let bound = move |event| bound_retry(event, Arc::clone(&breaks));
    events.then(bound).boxed()
}

async fn bound_retry(
    event: Result<Sse, SseError>,
    breaks: Arc<AtomicU32>,
) -> Result<Sse, SseError> {
    match event {
        Ok(mut event) => {
            breaks.store(0, Ordering::Relaxed);
            event.retry = event.retry.map(|pause| pause.clamp(SHORTEST_RETRY, LONGEST_RETRY));
            Ok(event)
        }
        Err(error) => {
            let breaks = breaks.fetch_add(1, Ordering::Relaxed).saturating_add(1);
            sleep(ReconnectPolicy::default().0.pause(breaks)).await;
            // Converted to text: rmcp does not reopen a stream after an error that it recognizes as
            // an event beyond the limit.
            Err(SseError::Body(error.to_string().into()))
        }
    }
}
