//! Which requests of one client have no answer yet.
//!
//! rmcp knows them by their ids: of two that run with the same one, the second takes the place of
//! the first, which can then be neither cancelled nor answered.
//!
//! Limit: an id is free as soon as its request is taken back, although its work ends a moment later.
//! A client that uses it again in that moment may get the answer to what it has taken back.

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::RxJsonRpcMessage;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use tool_runtime_core::seam::excerpt;

/// The requests that have no answer yet, by their ids, each with a note.
#[derive(Debug)]
pub(super) struct InFlight<T = ()>(HashMap<RequestId, T>);

impl<T> Default for InFlight<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> InFlight<T> {
    /// A request begins.
    ///
    /// # Errors
    /// Another one with its id runs.
    pub(super) fn begin(&mut self, id: &RequestId, note: T) -> Result<(), ErrorData> {
        if let Entry::Vacant(free) = self.0.entry(id.clone()) {
            free.insert(note);
            return Ok(());
        }
        let id = format!("{id:?}");
        let id = excerpt(&id);
        let text = format!(
            "another request with the id {id} has no answer yet; give each request an id of its own"
        );
        Err(ErrorData::invalid_request(text, None))
    }

    /// The notes of all of them.
    pub(super) fn notes(&self) -> impl Iterator<Item = &T> {
        self.0.values()
    }

    /// A request is answered, or taken back. Gives its note.
    pub(super) fn end(&mut self, id: &RequestId) -> Option<T> {
        self.0.remove(id)
    }

    /// Ends one of them, and gives its id.
    #[cfg(feature = "http")]
    pub(super) fn take(&mut self) -> Option<RequestId> {
        let id = self.0.keys().next()?.clone();
        self.0.remove(&id);
        Some(id)
    }
}

/// The request that a message takes back, which then has no answer.
pub(super) fn cancelled_id(message: &RxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    let JsonRpcMessage::Notification(message) = message else { return None };
    let ClientNotification::CancelledNotification(cancelled) = &message.notification else {
        return None;
    };
    cancelled.params.request_id.as_ref()
}

/// Which request a message answers.
pub(super) fn answered_id(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}
