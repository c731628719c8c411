//! Routes an incoming line: to rmcp, to an immediate answer, to the backlog, or nowhere.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::RxJsonRpcMessage;
use tokio::time::Instant;

use super::backlog::{self, Backlog};
use super::handshake_filter::HandshakeFilter;
use super::message::{Parsed, parse};
use super::refusal::Refusal;
use crate::in_flight::{InFlight, answered};
use tool_runtime_mcp::lines::Line;

/// The state of a connection that decides it.
pub(super) struct Inbound {
    filter: HandshakeFilter,
    running: InFlight,
    backlog: Backlog,
}

impl Inbound {
    /// Nothing has come yet.
    pub(super) fn new() -> Self {
        Self {
            filter: HandshakeFilter::default(),
            running: InFlight::default(),
            backlog: Backlog::new(),
        }
    }

    /// The message in a line, if rmcp should see it now. Requests wait while no more answers are
    /// wanted.
    ///
    /// # Errors
    /// The answer to a line that is none, or to a request that cannot be served.
    pub(super) fn accept(&mut self, line: Line<'_>, is_wanted: bool) -> Parsed {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong { limit } => return Err(Refusal::too_long(limit)),
        };
        let Some(message) = parse(line)? else { return Ok(None) };
        if !self.filter.admits(&message)? {
            return Ok(None);
        }
        let JsonRpcMessage::Request(request) = &message else {
            if let Some(id) = self.running.hear(&message) {
                self.backlog.end(id);
            }
            return Ok(Some(message));
        };
        let begun = self.running.begin(&request.id);
        begun.map_err(|error| Refusal::to(&request.id, error))?;
        if is_wanted && (!is_work(&request.request) || self.backlog.begin(&request.id)) {
            return Ok(Some(message));
        }
        if self.backlog.has_room() {
            self.backlog.hold(request.id.clone(), line);
            return Ok(None);
        }
        self.running.forget(&request.id);
        Err(Refusal::to(&request.id, backlog::crowded()))
    }

    /// An answer in place of one that cannot be used.
    pub(super) fn failed_answer(
        &mut self,
        refusal: &Refusal,
    ) -> Option<RxJsonRpcMessage<RoleServer>> {
        refusal.failed_answer().filter(|answer| matches!(self.filter.admits(answer), Ok(true)))
    }

    /// Whether another request may wait.
    pub(super) fn has_room(&self) -> bool {
        self.backlog.has_room()
    }

    /// The request that has waited and whose turn it is.
    pub(super) fn next(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let line = self.backlog.next()?;
        // It was a message when it came.
        parse(&line).ok().flatten()
    }

    /// The client is told something: it may be an answer, which makes place.
    pub(super) fn tell(&mut self, message: &ServerJsonRpcMessage) {
        if let Some(id) = answered(message) {
            self.running.forget(id);
            self.backlog.end(id);
        }
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
    pub(super) fn give_up(&mut self) -> impl Iterator<Item = Refusal> {
        self.backlog.give_up().map(|id| {
            self.running.forget(&id);
            Refusal::to(&id, backlog::ended())
        })
    }
}

/// Whether code of the pool's owner runs for a request. What else there is ends at once, or does
/// nothing but listen.
fn is_work(request: &ClientRequest) -> bool {
    matches!(
        request,
        ClientRequest::CallToolRequest(_)
            | ClientRequest::GetPromptRequest(_)
            | ClientRequest::ReadResourceRequest(_)
            | ClientRequest::CompleteRequest(_)
    )
}
