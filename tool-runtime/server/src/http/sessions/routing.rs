//! Notifications of a call, on the stream of the call.
//!
//! rmcp's sessions send a notification to the stream of a request only if it cancels that request,
//! or is progress of it; others go to the stream that listens. So the others travel through them
//! within one that cancels the request, and are taken out before they reach the client.

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification,
    GetExtensions as _, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::service::OriginatingRequestId;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use std::sync::Arc;

/// A notification within another one.
#[derive(Clone)]
struct Enclosed(Arc<ServerNotification>);

/// Addresses a notification to the stream of the request that it belongs to, if it is of one.
pub(super) fn addressed(message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
    let JsonRpcMessage::Notification(sent) = &message else { return message };
    let origin = sent.notification.extensions().get::<OriginatingRequestId>();
    let Some(OriginatingRequestId(request)) = origin else { return message };
    let to = CancelledNotificationParam::new(Some(request.clone()), None);
    let mut envelope = CancelledNotification::new(to);
    envelope.extensions.insert(Enclosed(Arc::new(sent.notification.clone())));
    JsonRpcMessage::notification(ServerNotification::CancelledNotification(envelope))
}

/// The message as its client is to see it.
pub(super) fn unpacked(mut event: ServerSseMessage) -> ServerSseMessage {
    if let Some(JsonRpcMessage::Notification(sent)) = event.message.as_deref()
        && let Some(Enclosed(message)) = sent.notification.extensions().get()
    {
        event.message = Some(Arc::new(JsonRpcMessage::notification((**message).clone())));
    }
    event
}

/// The message by which a client takes a request back.
pub(super) fn cancelled(request: RequestId, why: &str) -> ClientJsonRpcMessage {
    let params = CancelledNotificationParam::new(Some(request), Some(why.to_owned()));
    ClientJsonRpcMessage::notification(ClientNotification::CancelledNotification(
        CancelledNotification::new(params),
    ))
}
