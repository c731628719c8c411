//! The task that reads: it polls plain calls itself and passes everything else to rmcp.
//!
//! While a call is polled, the reader is stored in [`SharedReader`]. If the poll blocks the thread, another
//! task takes the reader and continues; the blocked task ends after its call, without the reader.

use super::connection::Connection;
use super::fast_call::{FastCall, ReadOn, Work};
use super::handshake_filter::HandshakeFilter;
use super::message::{parse_message, text};
use super::reader::Reader;
use super::requests::{Kind, busy};
use crate::caller::Caller;
use crate::fast_path::RawCall;
use crate::in_flight::cancelled_id;
use crate::rejection::Rejection;
use futures_util::future::{Either, select};
use rmcp::model::{ClientJsonRpcMessage, GetExtensions as _, JsonRpcMessage};
use std::collections::HashSet;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::{Watched as _, fill_lifo_slot, lock, spawn};
use tool_runtime_mcp::lines::{Line, LineBuffer};

/// Limit on waiting for a free slot among the calls in flight. It is limited because running calls may
/// depend on a later message: an answer, a cancellation, the end of the input.
pub(super) const STALL_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval of checking whether a client that does not read answers has closed its end.
const HANG_UP_CHECK: Duration = Duration::from_millis(100);

/// Lines read before the task yields. Without a yield, buffered lines would never let other tasks run.
const YIELD_INTERVAL: u32 = 64;

/// Limit on the first poll of a call. After a longer one, calls of that tool run in separate tasks until
/// the next yield. Not longer, because the system may have preempted the thread.
const SHORT_POLL: Duration = Duration::from_micros(200);

/// The reading half of a connection.
pub(super) struct ReadLoop {
    pub(super) reader: Reader,
    pub(super) lines: LineBuffer,
    pub(super) filter: HandshakeFilter,
    pub(super) connection: Arc<Connection>,
    /// Messages for rmcp.
    pub(super) messages: mpsc::Sender<ClientJsonRpcMessage>,
    /// Cancelled when the client reads no answers any more.
    pub(super) lost: CancellationToken,
    /// Ends the input when it is cancelled; cancelled when the input has ended.
    pub(super) disconnected: CancellationToken,
    /// The client, if it is known.
    pub(super) caller: Option<Caller>,
    /// Lines read since the last yield.
    pub(super) since_yield: u32,
    /// Whether the last wait for a free slot exceeded [`STALL_TIMEOUT`]. Further calls are then rejected immediately.
    pub(super) is_stalled: bool,
    /// Tools with a long first poll since the last yield.
    pub(super) slow: HashSet<String>,
    /// Tools that have blocked their thread.
    pub(super) blocking: HashSet<String>,
    /// Whether a task was woken since the last poll of a call.
    pub(super) has_woken: bool,
    /// The work of the last call. The next call reuses its allocation.
    pub(super) finished: Option<Work>,
    pub(super) shared: Arc<SharedReader>,
}

/// A line to serve.
enum Incoming {
    Message(Box<ClientJsonRpcMessage>),
    Call(Arc<FastCall>),
}

/// Reads to the end of the input.
pub(super) async fn run(reader: Box<ReadLoop>) {
    let closed = reader.connection.closed.clone();
    closed.run_until_cancelled(read(reader)).await;
}

async fn read(mut reader: Box<ReadLoop>) {
    while let Some(incoming) = reader.next().await {
        match incoming {
            Incoming::Message(message) => {
                reader.connection.flush();
                let message = reader.with_caller(*message);
                reader.has_woken = true;
                if reader.messages.send(message).await.is_err() {
                    return;
                }
            }
            Incoming::Call(call) => {
                let Some(returned) = poll_call(reader, call).await else { return };
                reader = returned;
            }
        }
    }
    reader.end().await;
}

/// Polls a call for the first time. Gives the reader back, unless another task has taken it.
async fn poll_call(mut reader: Box<ReadLoop>, call: Arc<FastCall>) -> Option<Box<ReadLoop>> {
    let mut work = call.run(reader.finished.take());
    if reader.is_detached(call.name()) {
        call.detach(work);
        reader.has_woken = true;
        return Some(reader);
    }
    reader.release_woken();
    let (connection, shared) = (Arc::clone(&reader.connection), Arc::clone(&reader.shared));
    let begun = std::time::Instant::now();
    shared.store(reader);
    let answer = poll_fn(|task| Poll::Ready(call.poll(&mut work, task))).await;
    let mut reader = shared.take();
    if let Some(reader) = &mut reader {
        reader.record_poll(call.name(), begun.elapsed() > SHORT_POLL);
        reader.has_woken |= answer.is_none();
    }
    match answer {
        Some(answer) => {
            call.answer(&answer);
            if let Some(reader) = &mut reader {
                reader.finished = Some(work);
            }
        }
        None => call.detach(work),
    }
    if reader.is_none() {
        connection.flush();
    }
    reader
}

/// The reader while it polls a call, for another task to take if the call blocks its thread.
#[derive(Default)]
pub(super) struct SharedReader(Mutex<Option<Box<ReadLoop>>>);

impl SharedReader {
    fn store(&self, reader: Box<ReadLoop>) {
        *lock(&self.0) = Some(reader);
    }

    /// The reader, unless another task has it.
    fn take(&self) -> Option<Box<ReadLoop>> {
        lock(&self.0).take()
    }
}

impl ReadOn for SharedReader {
    fn read_on(&self, tool: &str) {
        if let Some(mut reader) = self.take() {
            reader.blocking.insert(tool.to_owned());
            spawn(Box::pin(run(reader)));
        }
    }
}

impl ReadLoop {
    /// The next message or call; `None` after the last one.
    async fn next(&mut self) -> Option<Incoming> {
        loop {
            self.since_yield += 1;
            if self.since_yield > YIELD_INTERVAL {
                self.since_yield = 0;
                self.slow.clear();
                self.connection.flush();
                let_others_run().await;
            }
            self.wait_for_capacity().await?;
            let Some(line) = self.lines.next_line() else {
                self.connection.flush();
                if self.disconnected.is_cancelled() || self.lines.has_ended() {
                    return None;
                }
                self.fill().await;
                continue;
            };
            let incoming = match incoming(&self.connection, &self.shared, &mut self.filter, line) {
                Ok(Some(incoming)) => self.begin(&incoming).await.map(|()| incoming),
                Ok(None) => continue,
                Err(rejection) => Err(rejection),
            };
            match incoming {
                Ok(incoming) => return Some(incoming),
                Err(rejection) => {
                    self.connection.reject(&rejection);
                    let answer = rejection.failed_answer();
                    let answer =
                        answer.filter(|message| matches!(self.filter.passes(message), Ok(true)));
                    if answer.is_some() {
                        return answer.map(Box::new).map(Incoming::Message);
                    }
                }
            }
        }
    }

    /// Waits while too many answers are unread: the input of a client that does not read is paused.
    /// `None` if the client has disconnected or the input is to end.
    async fn wait_for_capacity(&self) -> Option<()> {
        loop {
            let has_capacity = self.connection.writer.has_capacity().ok()?;
            if self.lost.is_cancelled() {
                return None;
            }
            if has_capacity {
                return Some(());
            }
            if self.disconnected.is_cancelled() {
                return None;
            }
            self.connection.flush();
            if self.lines.has_ended() || self.reader.has_hung_up() {
                self.connection.input_ended.cancel();
            }
            let capacity = pin!(timeout(HANG_UP_CHECK, self.connection.writer.capacity()));
            select(capacity, pin!(self.closed())).await;
        }
    }

    /// Registers a request, after waiting for a free slot if it is a call. Cancels a request if the message is
    /// its `notifications/cancelled`.
    ///
    /// # Errors
    /// The answer to a request that cannot be served.
    async fn begin(&mut self, incoming: &Incoming) -> Result<(), Rejection> {
        let id = match incoming {
            Incoming::Call(call) => &call.state().id,
            Incoming::Message(message) => match &**message {
                JsonRpcMessage::Request(request) => &request.id,
                message => {
                    if let Some(id) = cancelled_id(message) {
                        self.connection.requests().cancel(id);
                    }
                    return Ok(());
                }
            },
        };
        loop {
            let begun = self.connection.requests().begin(id, incoming.kind());
            if begun.map_err(|error| Rejection::to(id, error))? {
                self.is_stalled = false;
                return Ok(());
            }
            if self.is_stalled || !self.request_ended().await {
                self.is_stalled = true;
                return Err(Rejection::to(id, busy()));
            }
        }
    }

    /// Waits until a request ends. `false` if none ends in time, or the client has disconnected.
    async fn request_ended(&self) -> bool {
        self.connection.flush();
        let ended = pin!(timeout(STALL_TIMEOUT, self.connection.request_ended()));
        matches!(select(ended, pin!(self.closed())).await, Either::Left((Ok(()), _)))
    }

    /// Waits until the client has disconnected, or the input is to end.
    async fn closed(&self) {
        select(pin!(self.disconnected.cancelled()), pin!(self.lost.cancelled())).await;
    }

    /// Waits for more bytes, or for the end.
    async fn fill(&mut self) {
        let Self { reader, lines, disconnected, lost, .. } = self;
        let (disconnected, lost) = (pin!(disconnected.cancelled()), pin!(lost.cancelled()));
        select(pin!(reader.fill(lines)), select(disconnected, lost)).await;
    }

    /// Adds the caller, if known, to a request.
    fn with_caller(&self, mut message: ClientJsonRpcMessage) -> ClientJsonRpcMessage {
        if let (JsonRpcMessage::Request(request), Some(caller)) = (&mut message, &self.caller) {
            request.request.extensions_mut().insert(caller.clone());
        }
        message
    }

    /// Whether a call starts in a separate task.
    fn is_detached(&self, tool: &str) -> bool {
        self.blocking.contains(tool) || (self.slow.contains(tool) && !self.lines.is_empty())
    }

    /// Makes the task in tokio's LIFO slot available to other workers, because the next poll may block
    /// this one. Another task takes the slot.
    fn release_woken(&mut self) {
        if std::mem::take(&mut self.has_woken) {
            fill_lifo_slot();
        }
    }

    /// Records a long first poll of a tool.
    fn record_poll(&mut self, tool: &str, is_slow: bool) {
        if is_slow {
            self.slow.insert(tool.to_owned());
        }
    }

    /// Waits until running calls are answered.
    async fn end(self) {
        self.connection.input_ended.cancel();
        self.disconnected.cancel();
        self.connection.all_answered().await;
    }
}

/// Ends the poll of the task, and puts it behind others. `tokio::task::yield_now` would keep it on its worker, which a call may
/// block.
async fn let_others_run() {
    let mut has_waited = false;
    poll_fn(|task| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Incoming {
    fn kind(&self) -> Kind {
        match self {
            Self::Call(call) => Kind::FastCall(Arc::clone(call.state())),
            Self::Message(message) => match &**message {
                JsonRpcMessage::Request(request) => Kind::from_request(&request.request),
                _ => Kind::Other,
            },
        }
    }
}

/// The message or plain call in a line; `None` for a line to ignore.
///
/// # Errors
/// The answer to a line that is not a message, or arrives at the wrong time.
fn incoming(
    connection: &Arc<Connection>,
    shared: &Arc<SharedReader>,
    filter: &mut HandshakeFilter,
    line: Line<'_>,
) -> Result<Option<Incoming>, Rejection> {
    let text = match line {
        Line::Whole(line) => text(line)?,
        Line::TooLong { limit } => return Err(Rejection::too_long(limit)),
    };
    let call = RawCall::read(text);
    if let (Some(call), Some(calls)) = (&call, connection.plain_calls())
        && let Some(call) = calls.plain(call)
    {
        let shared: Arc<dyn ReadOn> = Arc::clone(shared) as _;
        return Ok(Some(Incoming::Call(Arc::new(FastCall::new(call, calls, connection, shared)))));
    }
    let Some(message) = parse_message(text, call)? else { return Ok(None) };
    Ok(filter.passes(&message)?.then(|| Incoming::Message(Box::new(message))))
}
