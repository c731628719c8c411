//! The transport of rmcp's service loop.

use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use rmcp::RoleServer;
use rmcp::model::GetExtensions as _;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::caller::Caller;

use super::descriptor::Descriptors;
use super::exact;
use super::inbound::Inbound;
#[cfg(unix)]
use super::outlet;
use super::outlet::Pump;
use super::read_budget::ReadBudget;
use super::reader::Reader;
use super::refusal::Refusal;
use super::writer::Writer;
use crate::passing;
use tool_runtime_mcp::lines::{DEFAULT_LINE_LIMIT, LineBuffer};

/// Refusals that are kept for a peer that does not read, before it is not read either.
const MAX_UNREAD_REFUSALS: u32 = 1000;

/// How often a peer that neither reads nor is read is looked at.
const HANG_UP_CHECK: Duration = Duration::from_millis(100);

/// How long closing waits for a peer that does not read.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// Newline-delimited JSON over the standard streams, or over any two descriptors.
pub(crate) struct StdioTransport {
    reader: Reader,
    lines: LineBuffer,
    inbound: Inbound,
    budget: ReadBudget,
    writer: Writer,
    pump: Pump,
    /// Cancelled when nobody reads any more.
    lost: CancellationToken,
    /// Cancelled when there is no more input; whoever cancels it ends the input.
    gone: CancellationToken,
    /// Cancelled when the input has ended, while requests may still wait for their turn.
    ended: CancellationToken,
    /// Lines that were refused since the peer has not read its answers.
    unread_refusals: u32,
    /// Who is at the other end, if that is known.
    caller: Option<Caller>,
}

impl StdioTransport {
    /// Takes the process's standard streams: see [`Descriptors::take`] and [`Self::new`].
    pub(crate) fn take() -> io::Result<Self> {
        Self::new(Descriptors::take()?)
    }

    /// Serves streams taken earlier. Call it inside a runtime that has its I/O and time drivers.
    #[cfg(unix)]
    pub(crate) fn new(descriptors: Descriptors) -> io::Result<Self> {
        Self::from_descriptors(descriptors.input, descriptors.output)
    }

    /// Serves streams taken earlier, with two threads.
    #[cfg(windows)]
    pub(crate) fn new(descriptors: Descriptors) -> io::Result<Self> {
        let way_out = super::pump_thread::start(descriptors.output)?;
        Ok(Self::assemble(Reader::thread(descriptors.input)?, way_out))
    }

    /// Serves any two descriptors, each read or written in the way its kind allows.
    #[cfg(unix)]
    pub(crate) fn from_descriptors(input: OwnedFd, output: OwnedFd) -> io::Result<Self> {
        let way_out = outlet::open(output)?;
        Ok(Self::assemble(Reader::open(input)?, way_out))
    }

    /// Serves a client in the same process.
    pub(crate) fn in_memory(stream: tokio::io::DuplexStream, caller: Option<Caller>) -> Self {
        let (input, output) = tokio::io::split(stream);
        let way_out = super::pump_memory::start(output);
        let mut transport = Self::assemble(Reader::Memory(input), way_out);
        transport.caller = caller;
        transport
    }

    /// A transport in its initial state.
    fn assemble(reader: Reader, (writer, pump): (Writer, Pump)) -> Self {
        Self {
            reader,
            lines: LineBuffer::new(DEFAULT_LINE_LIMIT),
            inbound: Inbound::new(),
            budget: ReadBudget::default(),
            lost: writer.lost(),
            writer,
            pump,
            ended: CancellationToken::new(),
            gone: CancellationToken::new(),
            unread_refusals: 0,
            caller: None,
        }
    }

    /// What outlives the transport: rmcp drops it without closing it when a handshake fails.
    pub(crate) fn outbox(&self) -> Outbox {
        Outbox { writer: self.writer.clone(), ended: self.ended.clone() }
    }

    /// Sets how many bytes a line may have (16 MiB by default).
    pub(crate) fn with_line_limit(mut self, limit: usize) -> Self {
        self.lines.set_limit(limit);
        self
    }

    /// Sets the token that is cancelled when there is no more input, before requests in flight are
    /// waited for: what only listens then would be waited for in vain. It also goes the other way
    /// round: cancelled by somebody else, it ends the input.
    pub(crate) fn telling(mut self, gone: CancellationToken) -> Self {
        self.gone = gone;
        self
    }

    /// Whether little enough waits to be read by the peer; `None` if it does not read any more.
    fn room(&self) -> Option<bool> {
        self.writer.has_room().ok().filter(|_| !self.lost.is_cancelled())
    }

    /// Waits until nothing more is to be read, or nobody reads any more.
    async fn over(&self) {
        select(pin!(self.gone.cancelled()), pin!(self.lost.cancelled())).await;
    }

    /// Waits, unless nothing more is to be read. Whether it was waited to the end.
    async fn is_there_until(&self, deadline: Instant) -> bool {
        let waited = pin!(tokio::time::sleep_until(deadline));
        matches!(select(waited, pin!(self.over())).await, Either::Left(_))
    }

    /// Whether nothing is read for now, because enough waits: for its turn, or to be read by the
    /// peer. Waits then; what makes place drops this future, or ends it.
    async fn is_held_up(&mut self, has_room: bool) -> bool {
        if self.lines.has_ended() {
            return false;
        }
        if has_room {
            self.unread_refusals = 0;
            return match self.inbound.holds_up() {
                Some(until) => self.is_there_until(until).await,
                None => false,
            };
        }
        if self.inbound.has_room() && self.unread_refusals < MAX_UNREAD_REFUSALS {
            return false;
        }
        if self.reader.has_hung_up() {
            self.ended.cancel();
        }
        let until = Instant::now() + HANG_UP_CHECK;
        matches!(
            select(pin!(self.writer.room()), pin!(self.is_there_until(until))).await,
            Either::Left(_) | Either::Right((true, _))
        )
    }

    /// Waits for more bytes, or for a reason to look at something else.
    async fn more(&mut self, has_room: bool) {
        let Self { reader, lines, gone, lost, writer, .. } = self;
        let filled = pin!(reader.fill(lines));
        let room = pin!(async {
            match has_room {
                true => std::future::pending().await,
                false => drop(writer.room().await),
            }
        });
        let (gone, lost) = (pin!(gone.cancelled()), pin!(lost.cancelled()));
        select(filled, select(select(gone, lost), room)).await;
    }

    /// Nothing more is read or served.
    fn end(&mut self) {
        for refusal in self.inbound.give_up() {
            refuse(&self.writer, &refusal);
        }
        self.ended.cancel();
        self.gone.cancel();
    }

    /// The message with who sent it, if that is known.
    fn marked(&self, message: RxJsonRpcMessage<RoleServer>) -> RxJsonRpcMessage<RoleServer> {
        let mut message = message;
        if let (JsonRpcMessage::Request(request), Some(caller)) = (&mut message, &self.caller) {
            request.request.extensions_mut().insert(caller.clone());
        }
        message
    }

    /// Sets how many unwritten bytes may wait before senders do (4 MiB by default).
    #[cfg(all(test, unix))]
    pub(crate) fn with_queue_limit(self, limit: usize) -> Self {
        self.writer.set_limit(limit);
        self
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    /// Queues at once, so that the order of the calls is the order on the wire, and writes when
    /// polled, so that what was queued meanwhile goes out in the same system call.
    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.inbound.tell(&message);
        let message = passing::restored(message);
        let queued = match exact::message(&message) {
            Some(exact) => self.writer.push(&exact),
            None => self.writer.push(&message),
        };
        let writer = self.writer.clone();
        async move {
            queued?;
            writer.flush();
            writer.room().await
        }
    }

    /// The next message; `None` after the last one. Cancel safe: no state lives in the future.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.budget.mine().await;
            // A peer that does not read its answers gets no further requests served, but is heard.
            // One that cannot read them any more has gone.
            let Some(has_room) = self.room() else {
                self.end();
                return None;
            };
            if has_room && let Some(request) = self.inbound.next() {
                self.budget.take();
                return Some(self.marked(request));
            }
            if self.is_held_up(has_room).await {
                continue;
            }
            if let Some(line) = self.lines.next_line() {
                self.budget.take();
                match self.inbound.accept(line, has_room) {
                    Ok(Some(message)) => return Some(self.marked(message)),
                    Ok(None) => {}
                    Err(refusal) => {
                        self.unread_refusals += 1;
                        refuse(&self.writer, &refusal);
                        if let Some(answer) = self.inbound.failed_answer(&refusal) {
                            return Some(answer);
                        }
                    }
                }
                continue;
            }
            if self.gone.is_cancelled() || self.lines.has_ended() {
                self.ended.cancel();
                if let Some(until) = self.inbound.lingers()
                    && self.is_there_until(until).await
                {
                    continue;
                }
                self.end();
                return None;
            }
            self.more(has_room).await;
        }
    }

    /// Waits until everything is written, but not for long.
    async fn close(&mut self) -> io::Result<()> {
        self.writer.flush();
        self.writer.close();
        let drained = tokio::time::timeout(CLOSE_LIMIT, self.writer.drained()).await;
        self.pump.stop();
        drained.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}

/// The answers on their way out.
pub(crate) struct Outbox {
    writer: Writer,
    ended: CancellationToken,
}

impl Outbox {
    /// Waits until everything is written, but not for long.
    pub(crate) async fn emptied(&self) -> io::Result<()> {
        let drained = tokio::time::timeout(CLOSE_LIMIT, self.writer.drained()).await;
        drained.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Whether the peer has closed its end.
    pub(crate) fn is_broken(&self) -> bool {
        let fault = self.writer.has_room().err().map(|error| error.kind());
        matches!(fault, Some(io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset))
    }

    /// Gives up answers that nobody reads, some time after the end of the input.
    pub(crate) async fn given_up(&self, patience: Duration) {
        self.ended.cancelled().await;
        self.writer.stalled(patience).await;
        self.writer.give_up();
    }
}

impl Drop for StdioTransport {
    /// rmcp drops the transport without closing it when a handshake fails: what is queued still
    /// goes out, as long as the runtime lives.
    fn drop(&mut self) {
        self.writer.flush();
        self.writer.close();
    }
}

/// Answers a line here and now.
fn refuse(writer: &Writer, refusal: &Refusal) {
    tracing::debug!(?refusal, "refusing a line");
    // Fails only when the peer does not listen any more.
    if writer.push(refusal).is_ok() {
        writer.flush();
    }
}
