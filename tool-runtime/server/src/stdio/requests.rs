//! Requests in flight of one connection.

use super::call_state::CallState;
use crate::in_flight::InFlight;
use rmcp::model::{ClientRequest, ErrorData, RequestId};
use std::sync::Arc;

/// Limit on the calls of one client that run at a time.
pub(super) const MAX_CALLS: usize = 1024;

/// The requests in flight of one connection.
#[derive(Default)]
pub(super) struct Requests {
    in_flight: InFlight<Kind>,
    calls: usize,
    fast_calls: usize,
    /// Whether a task waits for an answer.
    has_waiter: bool,
}

/// The kind of a request.
pub(super) enum Kind {
    /// Answered immediately, or a subscription.
    Other,
    /// Runs user code.
    Call,
    /// A call on the fast path.
    FastCall(Arc<CallState>),
}

impl Kind {
    pub(super) fn from_request(request: &ClientRequest) -> Self {
        match request {
            ClientRequest::CallToolRequest(_)
            | ClientRequest::GetPromptRequest(_)
            | ClientRequest::ReadResourceRequest(_)
            | ClientRequest::CompleteRequest(_) => Self::Call,
            _ => Self::Other,
        }
    }
}

impl Requests {
    /// Begins a request. `false` if it must wait because [`MAX_CALLS`] run.
    ///
    /// # Errors
    /// A request with this id is in flight.
    pub(super) fn begin(&mut self, id: &RequestId, kind: Kind) -> Result<bool, ErrorData> {
        let is_call = !matches!(kind, Kind::Other);
        if is_call && self.calls == MAX_CALLS {
            self.has_waiter = true;
            return Ok(false);
        }
        let is_fast = matches!(kind, Kind::FastCall(_));
        self.in_flight.begin(id, kind)?;
        self.calls += usize::from(is_call);
        self.fast_calls += usize::from(is_fast);
        Ok(true)
    }

    /// Ends an answered request. Returns whether a task waits for the end.
    pub(super) fn answered(&mut self, id: &RequestId) -> bool {
        self.end(id);
        self.has_waiter
    }

    /// Ends a request that its client has cancelled.
    pub(super) fn cancel(&mut self, id: &RequestId) {
        if let Some(Kind::FastCall(call)) = self.end(id) {
            call.cancel();
        }
    }

    fn end(&mut self, id: &RequestId) -> Option<Kind> {
        let kind = self.in_flight.end(id)?;
        self.calls -= usize::from(!matches!(kind, Kind::Other));
        self.fast_calls -= usize::from(matches!(kind, Kind::FastCall(_)));
        Some(kind)
    }

    /// Whether no call of the fast path runs. If one does, the waiting task is woken at its answer.
    pub(super) fn is_idle(&mut self) -> bool {
        self.has_waiter = true;
        self.fast_calls == 0
    }

    /// Cancels the calls of the fast path.
    pub(super) fn cancel_calls(&self) {
        for kind in self.in_flight.notes() {
            if let Kind::FastCall(call) = kind {
                call.token.cancel();
            }
        }
    }
}

/// The error of a request that found no free slot in time.
pub(super) fn busy() -> ErrorData {
    let text = format!("{MAX_CALLS} calls are running; send further ones when some are answered");
    ErrorData::internal_error(text, None)
}
