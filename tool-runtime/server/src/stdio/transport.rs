//! The transport of rmcp's service loop.

use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::connection::Connection;
use super::descriptor::Descriptors;
#[cfg(unix)]
use super::outlet;
use super::plain_calls::PlainCalls;
use super::read_loop::{self, ReadLoop};
use super::reader::Reader;
use super::writer::{Pump, Writer};
use crate::caller::Caller;
use tool_runtime_mcp::lines::{DEFAULT_LINE_LIMIT, LineBuffer};

/// How long closing waits for a client that does not read, and for calls to be answered.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// Newline-delimited JSON over the standard streams, or over any two descriptors.
pub(crate) struct StdioTransport {
    connection: Arc<Connection>,
    /// The reader, until the first message is asked for.
    reader: Option<Box<ReadLoop>>,
    messages: mpsc::Receiver<RxJsonRpcMessage<RoleServer>>,
    pump: Pump,
    /// See [`ReadLoop::ended`].
    ended: CancellationToken,
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
        Ok(Self::assemble(Reader::thread(descriptors.input)?, way_out, None))
    }

    /// Serves any two descriptors, each read or written in the way its kind allows.
    #[cfg(unix)]
    pub(crate) fn from_descriptors(input: OwnedFd, output: OwnedFd) -> io::Result<Self> {
        let way_out = outlet::open(output)?;
        Ok(Self::assemble(Reader::open(input)?, way_out, None))
    }

    /// Serves a client in the same process.
    pub(crate) fn in_memory(stream: tokio::io::DuplexStream, caller: Option<Caller>) -> Self {
        let (input, output) = tokio::io::split(stream);
        let way_out = super::pump_memory::start(output);
        Self::assemble(Reader::Memory(input), way_out, caller)
    }

    /// A transport in its initial state.
    fn assemble(reader: Reader, (writer, pump): (Writer, Pump), caller: Option<Caller>) -> Self {
        let (sender, messages) = mpsc::channel(1);
        let (lost, ended) = (writer.lost(), CancellationToken::new());
        let connection = Connection::new(writer);
        let reader = Box::new(ReadLoop {
            reader,
            lines: LineBuffer::new(DEFAULT_LINE_LIMIT),
            connection: Arc::clone(&connection),
            messages: sender,
            lost,
            gone: CancellationToken::new(),
            ended: ended.clone(),
            caller,
            since_yield: 0,
            unread_rejections: 0,
            slow: HashSet::new(),
            blocking: HashSet::new(),
            finished: None,
            has_woken: false,
            lent: Arc::default(),
        });
        Self { connection, reader: Some(reader), messages, pump, ended }
    }

    /// What outlives the transport: rmcp drops it without closing it when a handshake fails.
    pub(crate) fn outbox(&self) -> Outbox {
        Outbox { connection: Arc::clone(&self.connection), ended: self.ended.clone() }
    }

    /// Sets how many bytes a line may have (16 MiB by default).
    pub(crate) fn with_line_limit(mut self, limit: usize) -> Self {
        if let Some(reader) = &mut self.reader {
            reader.lines.set_limit(limit);
        }
        self
    }

    /// Sets the token that is cancelled when there is no more input, before requests in flight are
    /// waited for: what only listens then would be waited for in vain. It also goes the other way
    /// round: cancelled by somebody else, it ends the input.
    pub(crate) fn telling(mut self, gone: CancellationToken) -> Self {
        if let Some(reader) = &mut self.reader {
            reader.gone = gone;
        }
        self
    }

    /// Sets how many unwritten bytes may wait before senders do (4 MiB by default).
    #[cfg(all(test, unix))]
    pub(crate) fn with_queue_limit(self, limit: usize) -> Self {
        self.connection.writer.set_limit(limit);
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
        let queued = self.connection.send(message);
        let writer = self.connection.writer.clone();
        async move {
            queued?;
            writer.flush();
            writer.room().await
        }
    }

    /// The next message; `None` after the last one. Cancel safe.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        if let Some(reader) = self.reader.take() {
            tokio::spawn(read_loop::run(reader));
        }
        self.messages.recv().await
    }

    /// Waits until everything is answered and written, but not for long.
    async fn close(&mut self) -> io::Result<()> {
        self.connection.inbound().cancel_calls();
        let answered = self.connection.all_answered();
        // A call that does not end now is not answered.
        let _ = tokio::time::timeout(CLOSE_LIMIT, answered).await;
        let writer = &self.connection.writer;
        writer.flush();
        writer.close();
        let drained = tokio::time::timeout(CLOSE_LIMIT, writer.drained()).await;
        self.pump.stop();
        self.connection.closed.cancel();
        drained.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}

/// The answers on their way out.
pub(crate) struct Outbox {
    connection: Arc<Connection>,
    ended: CancellationToken,
}

impl Outbox {
    /// Lets plain calls take the fast path: the handshake is over.
    pub(crate) fn open(&self, plain_calls: PlainCalls) {
        self.connection.open(plain_calls);
    }

    /// Cancels the calls that the fast path runs. They are answered with that.
    pub(crate) fn cancel_calls(&self) {
        self.connection.inbound().cancel_calls();
    }

    /// Waits until everything is written, but not for long.
    pub(crate) async fn emptied(&self) -> io::Result<()> {
        let drained = tokio::time::timeout(CLOSE_LIMIT, self.connection.writer.drained()).await;
        drained.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Whether the peer has closed its end.
    pub(crate) fn is_broken(&self) -> bool {
        let fault = self.connection.writer.has_room().err().map(|error| error.kind());
        matches!(fault, Some(io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset))
    }

    /// Gives up answers that nobody reads, some time after the end of the input.
    pub(crate) async fn given_up(&self, patience: Duration) {
        self.ended.cancelled().await;
        self.connection.writer.stalled(patience).await;
        self.connection.writer.give_up();
    }
}

impl Drop for StdioTransport {
    /// rmcp drops the transport without closing it when a handshake fails: what is queued still
    /// goes out, as long as the runtime lives.
    fn drop(&mut self) {
        self.connection.writer.flush();
        self.connection.writer.close();
        self.connection.closed.cancel();
    }
}
