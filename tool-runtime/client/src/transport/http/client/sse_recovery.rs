//! Streams of events as messages: other events are left out, and an unreadable answer becomes an error for its caller.

use crate::odd_answers::is_same_id;
use crate::recovery::{self, Incoming, Recovered};
use crate::transport::http::sse_backoff::Events;
use futures_util::{StreamExt as _, stream};
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;

/// Leaves only messages in a stream. Events without one keep their `id` and `retry`. In the stream of a `request`, answers
/// to other requests are left out: rmcp would end it. `is_call` returns whether it answers a call.
pub(super) fn recovering(events: Events, request: Option<RequestId>, is_call: bool) -> Events {
    let events = events.flat_map(move |event| {
        stream::iter(match event {
            Ok(event) => read(event, request.as_ref(), is_call),
            Err(error) => vec![Err(error)],
        })
    });
    events.boxed()
}

fn read(mut event: Sse, request: Option<&RequestId>, is_call: bool) -> Vec<Result<Sse, SseError>> {
    let text = event.data.take().unwrap_or_default();
    let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
    event.event = None;
    if !is_message || text.trim().is_empty() {
        return vec![Ok(event)];
    }
    if let Ok(message) = serde_json::from_str(&text)
        && !recovery::is_odd(&message)
    {
        // The text keeps what the type lacks.
        event.data = for_request(message, request).map(|_| text);
        return vec![Ok(event)];
    }
    let messages = match recovery::read(text.as_bytes(), &|_| is_call) {
        Ok(message) => vec![message],
        Err(Recovered::Messages(messages)) => messages,
        Err(_) => Vec::new(),
    };
    let messages = messages.into_iter().filter_map(|message| for_request(message, request));
    let messages = messages.filter_map(|message| serde_json::to_string(&message).ok());
    let mut events: Vec<_> =
        messages.map(|text| Ok(Sse { data: Some(text), ..event.clone() })).collect();
    if events.is_empty() {
        events.push(Ok(event));
    }
    events
}

/// A message in the stream of a request. An error without an id is meant for the request.
fn for_request(mut message: Incoming, request: Option<&RequestId>) -> Option<Incoming> {
    let Some(request) = request else { return Some(message) };
    let answered = match &mut message {
        JsonRpcMessage::Response(response) => &response.id,
        JsonRpcMessage::Error(error) => error.id.get_or_insert_with(|| request.clone()),
        _ => return Some(message),
    };
    if is_same_id(request, answered) {
        return Some(message);
    }
    tracing::debug!("an answer to another request is left out of a stream");
    None
}
