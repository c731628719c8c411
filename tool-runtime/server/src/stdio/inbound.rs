//! Decides on an incoming line: to be served, answered at once, kept for later, or ignored.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::RxJsonRpcMessage;
use std::sync::Arc;
use tokio::time::Instant;

use super::backlog::{self, Backlog};
use super::call_state::CallState;
use super::handshake_filter::HandshakeFilter;
use super::message::{Parsed, parse};
use crate::in_flight::{InFlight, cancelled_id};
use crate::rejection::Rejection;
use tool_runtime_mcp::lines::Line;

/// The state of a connection that decides it.
#[derive(Default)]
pub(super) struct Inbound {
    filter: HandshakeFilter,
    in_flight: InFlight<Running>,
    backlog: Backlog,
    /// Calls of the fast path that run.
    fast_calls: usize,
    /// Whether the connection waits for them to end.
    is_ending: bool,
}

/// What serving a request takes.
enum Kind<'a> {
    /// It ends at once, or does nothing but listen.
    Idle,
    /// User code runs: on the fast path, if the call is there.
    Work(Option<&'a Arc<CallState>>),
}

/// A request in flight.
struct Running {
    /// Whether it counts among those that run user code.
    is_at_work: bool,
    /// The call, on the fast path.
    fast_call: Option<Arc<CallState>>,
}

impl Running {
    fn fast(call: &Arc<CallState>) -> Self {
        Self { is_at_work: true, fast_call: Some(Arc::clone(call)) }
    }
}

impl Inbound {
    /// The message in a line, if rmcp should see it now. Requests wait while no more answers are
    /// wanted.
    ///
    /// # Errors
    /// The answer to a line that is not a message, or to a request that cannot be served.
    pub(super) fn accept(&mut self, line: Line<'_>, is_wanted: bool) -> Parsed {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong { limit } => return Err(Rejection::too_long(limit)),
        };
        let Some(message) = parse(line)? else { return Ok(None) };
        if !self.filter.admits(&message)? {
            return Ok(None);
        }
        let JsonRpcMessage::Request(request) = &message else {
            if let Some(running) = cancelled_id(&message).and_then(|id| self.end(id))
                && let Some(call) = running.fast_call
            {
                call.cancel();
            }
            return Ok(Some(message));
        };
        let kind = if is_work(&request.request) { Kind::Work(None) } else { Kind::Idle };
        let is_admitted = self.admit(&request.id, line, kind, is_wanted)?;
        Ok(is_admitted.then_some(message))
    }

    /// Whether a call of the fast path runs now. Otherwise its line waits.
    ///
    /// # Errors
    /// The answer to a request that cannot be served.
    pub(super) fn accept_call(
        &mut self,
        call: &Arc<CallState>,
        line: &[u8],
        is_wanted: bool,
    ) -> Result<bool, Rejection> {
        self.admit(&call.id, line, Kind::Work(Some(call)), is_wanted)
    }

    /// A call of the fast path that has waited runs now.
    pub(super) fn resume_call(&mut self, call: &Arc<CallState>) {
        if let Some(running) = self.in_flight.note(&call.id) {
            running.fast_call = Some(Arc::clone(call));
            self.fast_calls += 1;
        }
    }

    /// Whether a request is served now.
    fn admit(
        &mut self,
        id: &RequestId,
        line: &[u8],
        kind: Kind<'_>,
        is_wanted: bool,
    ) -> Result<bool, Rejection> {
        let is_idle = matches!(kind, Kind::Idle);
        let is_at_work = is_wanted && !is_idle && self.backlog.begin();
        let running = match kind {
            Kind::Work(Some(call)) if is_at_work => Running::fast(call),
            _ => Running { is_at_work, fast_call: None },
        };
        let is_fast = running.fast_call.is_some();
        if let Err(error) = self.in_flight.begin(id, running) {
            if is_at_work {
                self.backlog.end();
            }
            return Err(Rejection::to(id, error));
        }
        self.fast_calls += usize::from(is_fast);
        match is_at_work || (is_idle && is_wanted) {
            true => Ok(true),
            false => self.hold(id, line),
        }
    }

    /// Keeps a request for later, if there is room.
    fn hold(&mut self, id: &RequestId, line: &[u8]) -> Result<bool, Rejection> {
        if self.backlog.has_room() {
            self.backlog.hold(id.clone(), line);
            return Ok(false);
        }
        self.in_flight.end(id);
        Err(Rejection::to(id, backlog::crowded()))
    }

    /// An answer in place of one that cannot be used.
    pub(super) fn failed_answer(
        &mut self,
        rejection: &Rejection,
    ) -> Option<RxJsonRpcMessage<RoleServer>> {
        rejection.failed_answer().filter(|answer| matches!(self.filter.admits(answer), Ok(true)))
    }

    /// Whether another request may wait.
    pub(super) fn has_room(&self) -> bool {
        self.backlog.has_room()
    }

    /// The line of the request that has waited and whose turn it is.
    pub(super) fn next(&mut self) -> Option<Box<[u8]>> {
        let (id, line) = self.backlog.next()?;
        if let Some(running) = self.in_flight.note(&id) {
            running.is_at_work = true;
        }
        Some(line)
    }

    /// A request was answered. Whether something waits for that.
    pub(super) fn answered(&mut self, id: &RequestId) -> bool {
        drop(self.end(id));
        self.backlog.is_waited_for() || (self.is_ending && self.fast_calls == 0)
    }

    /// Whether no call of the fast path runs. From now on the connection waits for that.
    pub(super) fn is_idle(&mut self) -> bool {
        self.is_ending = true;
        self.fast_calls == 0
    }

    /// Cancels the calls of the fast path.
    pub(super) fn cancel_calls(&self) {
        let calls = self.in_flight.notes().filter_map(|running| running.fast_call.as_ref());
        calls.for_each(|call| call.token.cancel());
    }

    fn end(&mut self, id: &RequestId) -> Option<Running> {
        let running = self.in_flight.end(id)?;
        match running.is_at_work {
            true => self.backlog.end(),
            false => self.backlog.forget(id),
        }
        self.fast_calls -= usize::from(running.fast_call.is_some());
        Some(running)
    }

    /// Until when nothing should be read.
    pub(super) fn holds_up(&mut self) -> Option<Instant> {
        self.backlog.holds_up()
    }

    /// Until when what waits may still get its turn, now that the input has ended.
    pub(super) fn lingers(&mut self) -> Option<Instant> {
        self.backlog.lingers()
    }

    /// The answers to what will not get its turn any more.
    pub(super) fn give_up(&mut self) -> impl Iterator<Item = Rejection> {
        self.backlog.give_up().map(|id| {
            self.in_flight.end(&id);
            Rejection::to(&id, backlog::ended())
        })
    }
}

/// Whether user code runs for a request.
fn is_work(request: &ClientRequest) -> bool {
    matches!(
        request,
        ClientRequest::CallToolRequest(_)
            | ClientRequest::GetPromptRequest(_)
            | ClientRequest::ReadResourceRequest(_)
            | ClientRequest::CompleteRequest(_)
    )
}
