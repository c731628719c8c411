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
use std::collections::HashSet;
use tool_runtime_core::seam::excerpt;

/// The ids of requests that have no answer yet.
#[derive(Debug, Default)]
pub(super) struct InFlight(HashSet<RequestId>);

impl InFlight {
    /// A request begins.
    ///
    /// # Errors
    /// Another one with its id runs.
    pub(super) fn begin(&mut self, id: &RequestId) -> Result<(), ErrorData> {
        if self.0.insert(id.clone()) {
            return Ok(());
        }
        let id = format!("{id:?}");
        let id = excerpt(&id);
        let text = format!(
            "another request with the id {id} has no answer yet; give each request an id of its own"
        );
        Err(ErrorData::invalid_request(text, None))
    }

    /// The client says something: it may take a request back, which then has no answer. Gives the
    /// id of that one.
    pub(super) fn hear<'a>(
        &mut self,
        message: &'a RxJsonRpcMessage<RoleServer>,
    ) -> Option<&'a RequestId> {
        let JsonRpcMessage::Notification(heard) = message else { return None };
        let ClientNotification::CancelledNotification(cancelled) = &heard.notification else {
            return None;
        };
        let id = cancelled.params.request_id.as_ref()?;
        self.0.remove(id).then_some(id)
    }

    /// The client is told something: it may be an answer.
    #[cfg(feature = "http")]
    pub(super) fn tell(&mut self, message: &ServerJsonRpcMessage) {
        if let Some(id) = answered(message) {
            self.forget(id);
        }
    }

    /// A request is answered.
    pub(super) fn forget(&mut self, id: &RequestId) {
        self.0.remove(id);
    }

    /// Forgets one of them, and gives its id.
    #[cfg(feature = "http")]
    pub(super) fn take(&mut self) -> Option<RequestId> {
        let id = self.0.iter().next()?.clone();
        self.0.take(&id)
    }
}

/// Which request a message answers.
pub(super) fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}
