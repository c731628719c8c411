//! Requests that wait until fewer are in flight.
//!
//! A client may ask faster than it is served, and each request in flight is a task with memory of
//! its own. So only so many are; further ones wait here in their order, while notifications and
//! answers pass them: what is in flight can be taken back, and a tool gets what it asked for.
//!
//! They wait as text, which is a tenth of what they are as messages. When there is too much of it,
//! nothing more is read: the client is held up as by any pipe that is full. But what is in flight
//! may itself wait for something that is not read then (an answer, a cancellation, the end of the
//! input). So when none has got its turn for a while, reading goes on until none waits any more, and
//! requests that find no room are refused.

use rmcp::model::{ErrorData, RequestId};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// Requests in flight before others wait.
pub(super) const MOST_IN_FLIGHT: usize = 1024;

/// Bytes that wait before nothing more is read.
pub(super) const MOST_BYTES: usize = 8 * 1024 * 1024;

/// What one takes beside its line, about.
pub(super) const PLACE: usize = 128;

/// How long nothing is read while none gets its turn, once.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// How long those that wait may still get their turn after the end of the input.
const LINGER: Duration = Duration::from_secs(5);

/// Requests that were read and are not handed on yet.
pub(super) struct Backlog {
    waiting: VecDeque<Waiting>,
    bytes: usize,
    /// When one got its turn last, or the first one began to wait.
    moved: Instant,
    /// None got its turn for too long: reading goes on, whatever waits.
    reads_on: bool,
    /// When the input ended.
    ended: Option<Instant>,
}

/// One of them.
struct Waiting {
    id: RequestId,
    line: Box<[u8]>,
}

impl Waiting {
    fn bytes(&self) -> usize {
        self.line.len() + PLACE
    }
}

impl Backlog {
    /// Nobody waits.
    pub(super) fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            bytes: 0,
            moved: Instant::now(),
            reads_on: false,
            ended: None,
        }
    }

    /// Whether a request that is read now goes on at once, when as many `running` (itself and
    /// those that wait included) have no answer.
    pub(super) fn lets_pass(&self, running: usize) -> bool {
        running - self.waiting.len() <= MOST_IN_FLIGHT
    }

    /// Whether another one may wait.
    pub(super) fn has_room(&self) -> bool {
        self.bytes < MOST_BYTES
    }

    /// Lets a request wait.
    pub(super) fn hold(&mut self, id: RequestId, line: &[u8]) {
        if self.waiting.is_empty() {
            tracing::debug!("{MOST_IN_FLIGHT} requests are in flight, further ones wait");
            self.moved = Instant::now();
            self.reads_on = false;
        }
        let waiting = Waiting { id, line: line.into() };
        self.bytes += waiting.bytes();
        self.waiting.push_back(waiting);
    }

    /// The line of the one whose turn it is, if there is place for it.
    pub(super) fn next(&mut self, running: usize) -> Option<Box<[u8]>> {
        if self.waiting.is_empty() || running - self.waiting.len() >= MOST_IN_FLIGHT {
            return None;
        }
        let next = self.waiting.pop_front()?;
        self.bytes -= next.bytes();
        self.moved = Instant::now();
        Some(next.line)
    }

    /// One of them was taken back: nobody waits for its answer.
    pub(super) fn forget(&mut self, id: &RequestId) {
        // Most are taken back soon.
        let place = self.waiting.iter().rposition(|waiting| waiting.id == *id);
        if let Some(gone) = place.and_then(|place| self.waiting.remove(place)) {
            self.bytes -= gone.bytes();
        }
    }

    /// Until when nothing should be read.
    pub(super) fn holds_up(&mut self) -> Option<Instant> {
        if self.has_room() || self.reads_on {
            return None;
        }
        let until = self.moved + PATIENCE;
        self.reads_on = until <= Instant::now();
        (!self.reads_on).then_some(until)
    }

    /// Until when those that wait may still get their turn, now that the input has ended.
    pub(super) fn lingers(&mut self) -> Option<Instant> {
        let until = *self.ended.get_or_insert_with(Instant::now) + LINGER;
        (!self.waiting.is_empty() && until > Instant::now()).then_some(until)
    }

    /// Those that will not get their turn any more.
    pub(super) fn give_up(&mut self) -> impl Iterator<Item = RequestId> + use<> {
        self.bytes = 0;
        std::mem::take(&mut self.waiting).into_iter().map(|waiting| waiting.id)
    }
}

/// What a request is told that finds no room.
pub(super) fn crowded() -> ErrorData {
    let text = format!(
        "{MOST_IN_FLIGHT} requests are in flight and more wait than there is room for: send \
         further ones when some are answered"
    );
    ErrorData::internal_error(text, None)
}

/// What a request is told that still waited when the connection ended.
pub(super) fn ended() -> ErrorData {
    let text = "the connection ended before it was this request's turn";
    ErrorData::internal_error(text, None)
}
