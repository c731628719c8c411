//! Requests of one client without an answer, by id.
//!
//! rmcp finds requests by id: a second request with the id of a running one would replace the first, which
//! could then be neither cancelled nor answered.
//!
//! Limit: an id is free as soon as its request is cancelled, although the work ends a moment later. A client
//! that uses the id again in that moment may get the answer to the cancelled request.

use foldhash::fast::RandomState;
use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::RxJsonRpcMessage;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use tool_runtime_core::seam::excerpt;

/// The requests in flight by id, each with a value.
#[derive(Debug)]
pub(super) struct InFlight<T = ()>(HashMap<RequestId, T, RandomState>);

impl<T> Default for InFlight<T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<T> InFlight<T> {
    /// Begins a request.
    ///
    /// # Errors
    /// A request with this id is in flight.
    pub(super) fn begin(&mut self, id: &RequestId, note: T) -> Result<(), ErrorData> {
        if let Entry::Vacant(free) = self.0.entry(id.clone()) {
            free.insert(note);
            return Ok(());
        }
        let id = format!("{id:?}");
        let id = excerpt(&id);
        let text = format!(
            "another request with the id {id} has no answer yet; give each request its own id"
        );
        Err(ErrorData::invalid_request(text, None))
    }

    /// The values of all requests.
    pub(super) fn notes(&self) -> impl Iterator<Item = &T> {
        self.0.values()
    }

    /// Ends a request that is answered or cancelled. Returns its value.
    pub(super) fn end(&mut self, id: &RequestId) -> Option<T> {
        self.0.remove(id)
    }

    /// Ends any request, and returns its id.
    #[cfg(feature = "http")]
    pub(super) fn take(&mut self) -> Option<RequestId> {
        let id = self.0.keys().next()?.clone();
        self.0.remove(&id);
        Some(id)
    }
}

/// The id of the request that a message cancels.
pub(super) fn cancelled_id(message: &RxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    let JsonRpcMessage::Notification(message) = message else { return None };
    let ClientNotification::CancelledNotification(cancelled) = &message.notification else {
        return None;
    };
    cancelled.params.request_id.as_ref()
}

/// The id of the request that a message answers.
pub(super) fn answered_id(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}
