//! Messages as streams of server-sent events.

use super::access::{Client, Whose};
use crate::listener::{Heard, Listener};
use crate::local::StepNews;
use crate::names::StepKey;
use crate::protocol::{NoteEvent, RecordEvent, event};
use axum::http::HeaderValue;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::{Stream, StreamExt as _, stream};
use serde::Serialize;
use std::convert::Infallible;
use std::future::ready;
use std::time::Duration;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_util::sync::CancellationToken;

/// The pause after which a comment is sent.
const COMMENT: Duration = Duration::from_secs(5);

/// A stream that begins by saying that nothing is missed from now on, and ends with the server.
pub(super) fn response(
    events: impl Stream<Item = Event> + Send + 'static,
    ending: CancellationToken,
) -> Response {
    let first = stream::once(ready(Event::default().event(event::READY).data("{}")));
    let events = first.chain(events).take_until(ending.cancelled_owned());
    let events = events.map(Ok::<_, Infallible>);
    let comments = KeepAlive::new().interval(COMMENT);
    let mut response = Sse::new(events).keep_alive(comments).into_response();
    // Proxies that collect answers would hold back events.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// The events of the steps of a client.
pub(super) fn of_steps(news: broadcast::Receiver<StepNews>) -> impl Stream<Item = Event> {
    stream::unfold(news, |mut news| async {
        let event = match news.recv().await {
            Ok(one) => step_event(one),
            Err(RecvError::Lagged(_)) => gap(),
            Err(RecvError::Closed) => return None,
        };
        Some((event, news))
    })
}

/// The events of a topic.
pub(super) fn of_topic(listener: Listener) -> impl Stream<Item = Event> {
    heard(listener).map(message_event)
}

/// The presence of runners in the queues that a client knows.
pub(super) fn of_presence(listener: Listener, client: Client) -> impl Stream<Item = Event> {
    let is_known = move |heard: &Heard| match heard {
        Heard::Message(message) => {
            serde_json::from_slice::<Whose>(message).is_ok_and(|whose| client.knows(&whose.queue))
        }
        _ => true,
    };
    heard(listener).filter(move |heard| ready(is_known(heard))).map(message_event)
}

fn heard(listener: Listener) -> impl Stream<Item = Heard> {
    stream::unfold(listener, |mut listener| async {
        let heard = listener.next().await?;
        Some((heard, listener))
    })
}

fn message_event(heard: Heard) -> Event {
    match heard {
        Heard::Message(message) => {
            Event::default().event(event::MESSAGE).data(String::from_utf8_lossy(&message))
        }
        Heard::Record(_) | Heard::Gap => gap(),
    }
}

fn step_event(StepNews { step, heard }: StepNews) -> Event {
    let StepKey { queue, caller, step } = step;
    match heard {
        Heard::Message(message) => match serde_json::from_slice(&message) {
            Ok(note) => json_event(event::NOTE, &NoteEvent { queue, caller, step, note }),
            // A runner of this process sent something else.
            Err(_) => gap(),
        },
        Heard::Record(revised) => {
            let (revision, record) = (revised.revision, revised.record);
            json_event(event::RECORD, &RecordEvent { queue, caller, step, revision, record })
        }
        Heard::Gap => gap(),
    }
}

fn gap() -> Event {
    Event::default().event(event::GAP).data("{}")
}

fn json_event(name: &str, body: &impl Serialize) -> Event {
    let body = serde_json::to_string(body).expect("events have keys of text");
    Event::default().event(name).data(body)
}
