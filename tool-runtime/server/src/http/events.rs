//! Answers with an event stream: notifications, then the result.

use super::reply::Reply;
use axum::http::HeaderValue;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use std::convert::Infallible;
use std::task::ready;
use tokio::sync::mpsc::Receiver;
use tokio_util::task::AbortOnDropHandle;

/// The stream of a call that has told its client something. `rest` is the call, which ends with the
/// stream: it has a task of its own, or it would stand still while its client does not read.
pub(super) fn stream(
    first: Reply,
    told: Receiver<Reply>,
    rest: impl Future<Output = ()> + Send + 'static,
) -> Response {
    let mut first = Some(first);
    let mut open = Some((told, AbortOnDropHandle::new(tokio::spawn(rest))));
    let events = stream::poll_fn(move |context| {
        let next = match (first.take(), &mut open) {
            (Some(first), _) => Some(first),
            (None, Some((told, _))) => ready!(told.poll_recv(context)),
            (None, None) => None,
        };
        // What still holds the other end may outlive the call.
        open.take_if(|_| next.as_ref().is_none_or(|next| next.is_last));
        next.map(|next| Ok::<_, Infallible>(Event::default().data(next.json))).into()
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    // Proxies would wait for the whole of it.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
