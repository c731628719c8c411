//! The task that reads: it polls plain calls itself and hands everything else to rmcp.
//!
//! While it polls a call, the reader is lent ([`Lent`]). If the poll blocks the thread, another
//! task takes it and reads on; the task that was blocked finds it gone, and ends.

use super::connection::Connection;
use super::fast_call::{FastCall, ReadOn, Work};
use super::message::parse;
use super::reader::Reader;
use crate::caller::Caller;
use crate::rejection::Rejection;
use futures_util::future::{Either, select};
use rmcp::RoleServer;
use rmcp::model::{GetExtensions as _, JsonRpcMessage};
use rmcp::service::RxJsonRpcMessage;
use std::collections::HashSet;
use std::future::{poll_fn, ready};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::{Watched as _, lock};
use tool_runtime_mcp::lines::{Line, LineBuffer};

/// Rejections that are kept for a client that does not read, before it is not read either.
const MAX_UNREAD_REJECTIONS: u32 = 1000;

/// How often a client that neither reads nor is read is looked at.
const HANG_UP_CHECK: Duration = Duration::from_millis(100);

/// Lines that are read before other tasks get a turn: those that are here already never wait.
const YIELD_INTERVAL: u32 = 64;

/// A first poll that takes longer than this gives the next calls of its tool tasks of their own, up to
/// the next yield: the system may just have run something else.
const SHORT: Duration = Duration::from_micros(200);

type Message = RxJsonRpcMessage<RoleServer>;

/// The reading half of a connection.
pub(super) struct ReadLoop {
    pub(super) reader: Reader,
    pub(super) lines: LineBuffer,
    pub(super) connection: Arc<Connection>,
    /// Messages for rmcp.
    pub(super) messages: mpsc::Sender<Message>,
    /// Cancelled when nobody reads what we write any more.
    pub(super) lost: CancellationToken,
    /// Cancelled when there is no more input; whoever cancels it ends the input.
    pub(super) gone: CancellationToken,
    /// Cancelled when the input has ended, while requests may still wait for their turn.
    pub(super) ended: CancellationToken,
    /// Who is at the other end, if that is known.
    pub(super) caller: Option<Caller>,
    /// Lines since other tasks had a turn.
    pub(super) since_yield: u32,
    /// Lines that were rejected since the client has not read its answers.
    pub(super) unread_rejections: u32,
    /// Tools with a long first poll since the last yield.
    pub(super) slow: HashSet<String>,
    /// Tools that have blocked their thread.
    pub(super) blocking: HashSet<String>,
    /// Whether a task was woken since the last poll of a call.
    pub(super) has_woken: bool,
    /// The work of the last call, whose memory the next one takes.
    pub(super) finished: Option<Work>,
    pub(super) lent: Arc<Lent>,
}

/// What a line asks for.
enum Incoming {
    Message(Box<Message>),
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
                let message = reader.marked(*message);
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
    let (connection, lent) = (Arc::clone(&reader.connection), Arc::clone(&reader.lent));
    let begun = std::time::Instant::now();
    lent.lend(reader);
    let answer = poll_fn(|task| Poll::Ready(call.poll(&mut work, task))).await;
    let mut reader = lent.take_back();
    if let Some(reader) = &mut reader {
        reader.note(call.name(), begun.elapsed() > SHORT);
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
pub(super) struct Lent(Mutex<Option<Box<ReadLoop>>>);

impl Lent {
    fn lend(&self, reader: Box<ReadLoop>) {
        *lock(&self.0) = Some(reader);
    }

    /// The reader, unless another task has it.
    fn take_back(&self) -> Option<Box<ReadLoop>> {
        lock(&self.0).take()
    }
}

impl ReadOn for Lent {
    fn read_on(&self, tool: &str) {
        if let Some(mut reader) = self.take_back() {
            reader.blocking.insert(tool.to_owned());
            tokio::spawn(run(reader));
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
                yield_now().await;
            }
            // A client that does not read its answers gets no further requests served, but is heard.
            // One that cannot read them any more has gone.
            let has_room = self.room()?;
            if has_room && let Some(request) = self.resumed() {
                return Some(request);
            }
            if self.is_held_up(has_room).await {
                continue;
            }
            if let Some(line) = self.lines.next_line() {
                let incoming = match line {
                    Line::Whole(line) => accept(&self.connection, &self.lent, line, has_room),
                    line => self.connection.inbound().accept(line, has_room).map(as_message),
                };
                match incoming {
                    Ok(None) => {}
                    Ok(incoming) => return incoming,
                    Err(rejection) => {
                        self.unread_rejections += 1;
                        self.connection.reject(&rejection);
                        let answer = self.connection.inbound().failed_answer(&rejection);
                        if answer.is_some() {
                            return as_message(answer);
                        }
                    }
                }
                continue;
            }
            self.connection.flush();
            if self.gone.is_cancelled() || self.lines.has_ended() {
                self.ended.cancel();
                let until = self.connection.inbound().lingers();
                if let Some(until) = until
                    && self.is_there_until(until).await
                {
                    continue;
                }
                return None;
            }
            self.more(has_room).await;
        }
    }

    /// The request that has waited and whose turn it is.
    fn resumed(&mut self) -> Option<Incoming> {
        let line = self.connection.inbound().next()?;
        if let Some(call) = fast_call(&self.connection, &self.lent, &line) {
            self.connection.inbound().resume_call(call.state());
            return Some(Incoming::Call(call));
        }
        // It was a message when it came.
        as_message(parse(&line).ok().flatten())
    }

    /// Whether little enough waits to be read by the client; `None` if it does not read any more.
    fn room(&self) -> Option<bool> {
        self.connection.writer.has_room().ok().filter(|_| !self.lost.is_cancelled())
    }

    /// Waits until nothing more is to be read, or nobody reads any more.
    async fn over(&self) {
        select(pin!(self.gone.cancelled()), pin!(self.lost.cancelled())).await;
    }

    /// Waits for a while, or for a change. `false` if nothing more is to be read.
    async fn is_there_until(&self, deadline: Instant) -> bool {
        let waited = pin!(tokio::time::sleep_until(deadline));
        let changed = pin!(self.connection.changed());
        let waited = select(waited, changed);
        matches!(select(waited, pin!(self.over())).await, Either::Left(_))
    }

    /// Whether nothing is read for now, because enough waits: for its turn, or to be read by the
    /// client. Waits then, until that may have changed.
    async fn is_held_up(&mut self, has_room: bool) -> bool {
        if self.lines.has_ended() {
            return false;
        }
        if has_room {
            self.unread_rejections = 0;
            let until = self.connection.inbound().holds_up();
            let Some(until) = until else { return false };
            self.connection.flush();
            return self.is_there_until(until).await;
        }
        if self.connection.inbound().has_room() && self.unread_rejections < MAX_UNREAD_REJECTIONS {
            return false;
        }
        self.connection.flush();
        if self.reader.has_hung_up() {
            self.ended.cancel();
        }
        let until = Instant::now() + HANG_UP_CHECK;
        let room = pin!(self.connection.writer.room());
        matches!(
            select(room, pin!(self.is_there_until(until))).await,
            Either::Left(_) | Either::Right((true, _))
        )
    }

    /// Waits for more bytes, or for a reason to look at something else.
    async fn more(&mut self, has_room: bool) {
        let Self { reader, lines, gone, lost, connection, .. } = self;
        let filled = pin!(reader.fill(lines));
        let room = pin!(async {
            match has_room {
                true => connection.changed().await,
                false => drop(connection.writer.room().await),
            }
        });
        let (gone, lost) = (pin!(gone.cancelled()), pin!(lost.cancelled()));
        select(filled, select(select(gone, lost), room)).await;
    }

    /// The message with who sent it, if that is known.
    fn marked(&self, message: Message) -> Message {
        let mut message = message;
        if let (JsonRpcMessage::Request(request), Some(caller)) = (&mut message, &self.caller) {
            request.request.extensions_mut().insert(caller.clone());
        }
        message
    }

    /// Whether a call gets a task of its own at once.
    fn is_detached(&self, tool: &str) -> bool {
        self.blocking.contains(tool) || (self.slow.contains(tool) && !self.lines.is_empty())
    }

    /// Lets other workers run the task that was woken last: it stays with this worker, which the next
    /// poll may block. A further task takes its place.
    fn release_woken(&mut self) {
        if std::mem::take(&mut self.has_woken) {
            drop(tokio::spawn(ready(())));
        }
    }

    /// Notes a long first poll of a tool.
    fn note(&mut self, tool: &str, is_slow: bool) {
        if is_slow {
            self.slow.insert(tool.to_owned());
        }
    }

    /// Nothing more is read; calls that run are still answered.
    async fn end(self) {
        let unserved: Vec<_> = self.connection.inbound().give_up().collect();
        unserved.iter().for_each(|rejection| self.connection.reject(rejection));
        self.connection.flush();
        self.ended.cancel();
        self.gone.cancel();
        self.connection.all_answered().await;
    }
}

/// What is to be done with a line now, if anything.
///
/// # Errors
/// The answer to a line that is not a message, or to a request that cannot be served.
fn accept(
    connection: &Arc<Connection>,
    lent: &Arc<Lent>,
    line: &[u8],
    is_wanted: bool,
) -> Result<Option<Incoming>, Rejection> {
    let Some(call) = fast_call(connection, lent, line) else {
        let accepted = connection.inbound().accept(Line::Whole(line), is_wanted);
        return accepted.map(as_message);
    };
    let is_served = connection.inbound().accept_call(call.state(), line, is_wanted)?;
    Ok(is_served.then_some(Incoming::Call(call)))
}

/// The call in a line, if the fast path takes it.
fn fast_call(connection: &Arc<Connection>, lent: &Arc<Lent>, line: &[u8]) -> Option<Arc<FastCall>> {
    let calls = connection.plain_calls()?;
    let call = calls.read(line)?;
    let lent: Arc<dyn ReadOn> = Arc::clone(lent) as _;
    Some(Arc::new(FastCall::new(call, calls, connection, lent)))
}

fn as_message(message: Option<Message>) -> Option<Incoming> {
    message.map(Box::new).map(Incoming::Message)
}
