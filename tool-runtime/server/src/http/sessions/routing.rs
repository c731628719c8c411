//! Sends notifications of a call on the stream of the call.
//!
//! rmcp's sessions send a notification to the stream of a request only if it cancels the request, or is
//! progress of it; others go to the listening stream. Therefore the others pass the session inside a
//! cancellation of the request, and are taken out before they reach the client.

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification,
    GetExtensions as _, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::service::OriginatingRequestId;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use std::sync::Arc;

/// A notification inside another one.
#[derive(Clone)]
struct Enclosed(Arc<ServerNotification>);

/// Wraps a notification of a request, so that it reaches the stream of the request.
pub(super) fn wrapped(message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
    let JsonRpcMessage::Notification(sent) = &message else { return message };
    let origin = sent.notification.extensions().get::<OriginatingRequestId>();
    let Some(OriginatingRequestId(request)) = origin else { return message };
    let params = CancelledNotificationParam::new(Some(request.clone()), None);
    let mut envelope = CancelledNotification::new(params);
    envelope.extensions.insert(Enclosed(Arc::new(sent.notification.clone())));
    JsonRpcMessage::notification(ServerNotification::CancelledNotification(envelope))
}

/// The message without the wrapping.
pub(super) fn unwrapped(mut event: ServerSseMessage) -> ServerSseMessage {
    if let Some(JsonRpcMessage::Notification(sent)) = event.message.as_deref()
        && let Some(Enclosed(message)) = sent.notification.extensions().get()
    {
        event.message = Some(Arc::new(JsonRpcMessage::notification((**message).clone())));
    }
    event
}

/// A cancellation as a client would send it.
pub(super) fn cancelled(request: RequestId, why: &str) -> ClientJsonRpcMessage {
    let params = CancelledNotificationParam::new(Some(request), Some(why.to_owned()));
    ClientJsonRpcMessage::notification(ClientNotification::CancelledNotification(
        CancelledNotification::new(params),
    ))
}
