//! Event streams with unreadable answers, which rmcp skips: their callers would wait.

use crate::recovery::{self, Recovered};
use crate::transport::http::sse_backoff::Events;
use futures_util::{StreamExt as _, stream};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;

/// Replaces unreadable events by their recovered parts. `is_call` returns whether they answer a
/// call.
pub(super) fn recovering(events: Events, is_call: bool) -> Events {
    let events = events.flat_map(move |event| {
        stream::iter(match event {
            Ok(event) => read(event, is_call),
            Err(error) => vec![Err(error)],
        })
    });
    events.boxed()
}

fn read(event: Sse, is_call: bool) -> Vec<Result<Sse, SseError>> {
    let text = event.data.as_deref().unwrap_or_default();
    if text.is_empty() {
        return vec![Ok(event)];
    }
    let messages = match recovery::read(text.as_bytes(), &|_| is_call) {
        Ok(message) => vec![message],
        Err(Recovered::Messages(messages)) => messages,
        Err(_) => return vec![Ok(event)],
    };
    let texts = messages.iter().filter_map(|message| serde_json::to_string(message).ok());
    texts.map(|text| Ok(Sse { data: Some(text), ..event.clone() })).collect()
}
