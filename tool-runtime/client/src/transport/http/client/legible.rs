//! Event streams with unreadable answers: rmcp skips them, and their callers would wait.

use crate::notification_router::NotificationRouter;
use crate::recovery::{Incoming, Salvaged, salvaged};
use crate::transport::http::sse_backoff::Events;
use futures_util::{StreamExt as _, stream};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;
use std::sync::Arc;

/// The same events, with what can be made of those that cannot be read. `is_call` says whether
/// they answer a call.
pub(super) fn legible(
    events: Events,
    is_call: bool,
    notifications: Arc<NotificationRouter>,
) -> Events {
    let events = events.flat_map(move |event| {
        stream::iter(match event {
            Ok(event) => read(event, is_call, &notifications),
            Err(error) => vec![Err(error)],
        })
    });
    events.boxed()
}

fn read(
    event: Sse,
    is_call: bool,
    notifications: &NotificationRouter,
) -> Vec<Result<Sse, SseError>> {
    let text = event.data.as_deref().unwrap_or_default();
    if text.is_empty() {
        return vec![Ok(event)];
    }
    let Err(why) = serde_json::from_str::<Incoming>(text) else { return vec![Ok(event)] };
    let Salvaged::Messages(messages) = salvaged(text.as_bytes(), &why, &|_| is_call, notifications)
    else {
        return vec![Ok(event)];
    };
    let texts = messages.iter().filter_map(|message| serde_json::to_string(message).ok());
    texts.map(|text| Ok(Sse { data: Some(text), ..event.clone() })).collect()
}
