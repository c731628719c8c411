//! Messages of the fast path as HTTP responses: one JSON body, or an event stream.

use crate::fast_path::{Answer, to_json};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use rmcp::model::{ErrorCode, JsonRpcMessage, ServerNotification};
use std::convert::Infallible;
use std::task::ready;
use tokio::sync::mpsc::Receiver;
use tokio_util::task::AbortOnDropHandle;

/// A message to a client.
pub(super) struct Reply {
    json: String,
    /// Whether the message answers the request.
    is_last: bool,
    status: StatusCode,
}

impl Reply {
    /// A message before the answer.
    pub(super) fn notification(notification: ServerNotification) -> Self {
        let json = to_json(&JsonRpcMessage::notification(notification));
        Self { json, is_last: false, status: StatusCode::OK }
    }

    /// The answer to a client of 2026-07-28 (`is_stateless`), or to an older one.
    pub(super) fn answer(answer: Answer, is_stateless: bool) -> Self {
        let status = answer.code.map_or(StatusCode::OK, |code| status(code, is_stateless));
        Self { json: answer.json, is_last: true, status }
    }

    /// The response with only this message.
    pub(super) fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.json));
        *response.status_mut() = self.status;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response
    }
}

/// 2026-07-28 assigns statuses to the errors that intermediaries should see.
fn status(code: ErrorCode, is_stateless: bool) -> StatusCode {
    match code {
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::HEADER_MISMATCH
            if is_stateless =>
        {
            StatusCode::BAD_REQUEST
        }
        ErrorCode::METHOD_NOT_FOUND if is_stateless => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}

/// The event stream of a call that has sent a message. `rest` is the call, which ends with the stream.
/// The call runs in its own task, so that it makes progress while its client does not read.
pub(super) fn stream(
    first: Reply,
    messages: Receiver<Reply>,
    rest: impl Future<Output = ()> + Send + 'static,
) -> Response {
    let mut first = Some(first);
    let mut open = Some((messages, AbortOnDropHandle::new(tokio::spawn(rest))));
    let events = futures_util::stream::poll_fn(move |context| {
        let next = match (first.take(), &mut open) {
            (Some(first), _) => Some(first),
            (None, Some((messages, _))) => ready!(messages.poll_recv(context)),
            (None, None) => None,
        };
        // A sender may outlive the call.
        open.take_if(|_| next.as_ref().is_none_or(|next| next.is_last));
        next.map(|next| Ok::<_, Infallible>(Event::default().data(next.json))).into()
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    // Keeps proxies from buffering the stream.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
