//! Requests that wait until fewer are in flight.
//!
//! A client may ask faster than it is served, and what runs has memory of its own. So only so many
//! calls run; further ones wait here in their order, while everything else passes them: what runs can
//! be taken back, a tool gets what it asked for, and a server that is busy still answers a `ping`.
//!
//! They wait as text, which is a tenth of what they are as messages. When there is too much of it,
//! nothing more is read: the client is held up as by any pipe that is full. But what runs may itself
//! wait for something that is not read then (an answer, a cancellation, the end of the input). So
//! when none has got its turn for a while, reading goes on, and what finds no room is refused.

use rmcp::model::{ErrorData, RequestId};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tokio::time::Instant;

/// Calls that run before others wait.
pub(super) const MAX_AT_WORK: usize = 1024;

/// Bytes that wait before nothing more is read.
pub(super) const MAX_BYTES: usize = 8 * 1024 * 1024;

/// What one takes beside its line, about.
pub(super) const PLACE: usize = 256;

/// Time without reading while no waiting call can start.
pub(super) const STALL_TIMEOUT: Duration = Duration::from_secs(30);

/// The same once that has happened, until none waits any more.
const IMPATIENCE: Duration = Duration::from_millis(100);

/// How long those that wait may still get their turn after the end of the input.
const LINGER: Duration = Duration::from_secs(5);

/// Who runs and who waits.
pub(super) struct Backlog {
    at_work: usize,
    /// By their turns.
    waiting: BTreeMap<u64, Waiting>,
    turns: HashMap<RequestId, u64>,
    last_turn: u64,
    bytes: usize,
    /// When one got its turn last, or the first one began to wait.
    moved: Instant,
    patience: Duration,
    /// When the input ended.
    ended: Option<Instant>,
}

/// One that waits.
struct Waiting {
    id: RequestId,
    line: Box<[u8]>,
}

impl Waiting {
    fn bytes(&self) -> usize {
        self.line.len() + PLACE
    }
}

impl Default for Backlog {
    /// Nobody waits.
    fn default() -> Self {
        Self {
            at_work: 0,
            waiting: BTreeMap::new(),
            turns: HashMap::new(),
            last_turn: 0,
            bytes: 0,
            moved: Instant::now(),
            patience: STALL_TIMEOUT,
            ended: None,
        }
    }
}

impl Backlog {
    /// Whether a request that is read now runs at once; then it counts as running.
    pub(super) fn begin(&mut self) -> bool {
        let has_place = self.waiting.is_empty() && self.at_work < MAX_AT_WORK;
        self.at_work += usize::from(has_place);
        has_place
    }

    /// A running request has ended.
    pub(super) fn end(&mut self) {
        self.at_work -= 1;
    }

    /// Whether requests wait.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether another one may wait.
    pub(super) fn has_room(&self) -> bool {
        self.bytes < MAX_BYTES
    }

    /// Lets a request wait.
    pub(super) fn hold(&mut self, id: RequestId, line: &[u8]) {
        if self.waiting.is_empty() {
            tracing::debug!("{MAX_AT_WORK} calls run, further ones wait");
            self.moved = Instant::now();
            self.patience = STALL_TIMEOUT;
        }
        let waiting = Waiting { id: id.clone(), line: line.into() };
        self.bytes += waiting.bytes();
        self.last_turn += 1;
        self.turns.insert(id, self.last_turn);
        self.waiting.insert(self.last_turn, waiting);
    }

    /// The one whose turn it is, if there is place for it. It counts as running.
    pub(super) fn next(&mut self) -> Option<(RequestId, Box<[u8]>)> {
        if self.at_work >= MAX_AT_WORK {
            return None;
        }
        let (_, next) = self.waiting.pop_first()?;
        self.turns.remove(&next.id);
        self.bytes -= next.bytes();
        self.moved = Instant::now();
        self.at_work += 1;
        Some((next.id, next.line))
    }

    /// Nobody waits for the answer to a request any more.
    pub(super) fn forget(&mut self, id: &RequestId) {
        if let Some(turn) = self.turns.remove(id)
            && let Some(gone) = self.waiting.remove(&turn)
        {
            self.bytes -= gone.bytes();
        }
    }

    /// Until when nothing should be read.
    pub(super) fn holds_up(&mut self) -> Option<Instant> {
        if self.has_room() {
            return None;
        }
        let until = self.moved + self.patience;
        if until > Instant::now() {
            return Some(until);
        }
        self.patience = IMPATIENCE;
        None
    }

    /// Until when those that wait may still get their turn, now that the input has ended.
    pub(super) fn lingers(&mut self) -> Option<Instant> {
        let until = *self.ended.get_or_insert_with(Instant::now) + LINGER;
        (!self.waiting.is_empty() && until > Instant::now()).then_some(until)
    }

    /// Those that will not get their turn any more.
    pub(super) fn give_up(&mut self) -> impl Iterator<Item = RequestId> + use<> {
        self.bytes = 0;
        self.turns.clear();
        std::mem::take(&mut self.waiting).into_values().map(|waiting| waiting.id)
    }
}

/// What a request is told that finds no room.
pub(super) fn crowded() -> ErrorData {
    let text = format!(
        "{MAX_AT_WORK} calls run and more wait than there is room for: send further ones when some \
         are answered"
    );
    ErrorData::internal_error(text, None)
}

/// What a request is told that still waited when the connection ended.
pub(super) fn ended() -> ErrorData {
    let text = "the connection ended before it was this request's turn";
    ErrorData::internal_error(text, None)
}
