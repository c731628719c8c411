//! The transport of rmcp's service loop.

use super::connection::Connection;
use super::descriptor::Descriptors;
use super::handshake_filter::HandshakeFilter;
use super::pump;
#[cfg(unix)]
use super::pump_task;
use super::read_loop::{self, ReadLoop};
use super::reader::Reader;
use super::writer::{Pump, Writer};
use crate::caller::Caller;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::HashSet;
use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::spawn;
use tool_runtime_mcp::lines::{DEFAULT_LINE_LIMIT, LineBuffer};

/// Limit on each step of closing: answering the calls in flight, and the time in which no answer is written.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Newline-delimited JSON over the standard streams, or over any two descriptors.
pub(crate) struct StdioTransport {
    connection: Arc<Connection>,
    /// The reader, until the first `receive` starts its task.
    reader: Option<Box<ReadLoop>>,
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    pump: Pump,
}

impl StdioTransport {
    /// Takes the process's standard streams: see [`Descriptors::take`] and [`Self::new`].
    pub(crate) fn take() -> io::Result<Self> {
        Self::new(Descriptors::take()?)
    }

    /// Serves streams taken earlier. Needs a runtime with its I/O and time drivers.
    #[cfg(unix)]
    pub(crate) fn new(descriptors: Descriptors) -> io::Result<Self> {
        Self::from_descriptors(descriptors.input, descriptors.output)
    }

    /// Serves streams taken earlier, with two threads.
    #[cfg(windows)]
    pub(crate) fn new(descriptors: Descriptors) -> io::Result<Self> {
        let output = pump::start_thread(descriptors.output)?;
        Ok(Self::assemble(Reader::thread(descriptors.input)?, output, None))
    }

    /// Serves any two descriptors, each read or written in the way its kind allows.
    #[cfg(unix)]
    pub(crate) fn from_descriptors(input: OwnedFd, output: OwnedFd) -> io::Result<Self> {
        use super::descriptor_kind::{Opened, open_by_kind};
        use super::polled::Direction;

        let output = match open_by_kind(output, Direction::Output)? {
            Opened::Polled(descriptor) => pump_task::start(descriptor),
            Opened::Blocking(file) => pump::start_thread(file)?,
        };
        let input = match open_by_kind(input, Direction::Input)? {
            Opened::Polled(descriptor) => Reader::Polled { descriptor, untried: true },
            Opened::Blocking(file) => Reader::thread(file)?,
        };
        Ok(Self::assemble(input, output, None))
    }

    /// Serves a client in the same process.
    pub(crate) fn in_memory(stream: DuplexStream, caller: Option<Caller>) -> Self {
        let (input, output) = tokio::io::split(stream);
        Self::assemble(Reader::Memory(input), pump::start_task(output), caller)
    }

    /// A transport in its initial state.
    fn assemble(reader: Reader, (writer, pump): (Writer, Pump), caller: Option<Caller>) -> Self {
        let (sender, messages) = mpsc::channel(1);
        let lost = writer.lost();
        let connection = Connection::new(writer);
        let reader = Box::new(ReadLoop {
            reader,
            lines: LineBuffer::new(DEFAULT_LINE_LIMIT),
            filter: HandshakeFilter::default(),
            connection: Arc::clone(&connection),
            messages: sender,
            lost,
            disconnected: CancellationToken::new(),
            caller,
            since_yield: 0,
            is_stalled: false,
            slow: HashSet::new(),
            blocking: HashSet::new(),
            finished: None,
            has_woken: false,
            shared: Arc::default(),
        });
        Self { connection, reader: Some(reader), messages, pump }
    }

    /// The state that outlives the transport, which rmcp drops without closing when a handshake fails.
    pub(crate) fn connection(&self) -> Arc<Connection> {
        Arc::clone(&self.connection)
    }

    /// Sets the limit on the bytes of a line (16 MiB by default).
    pub(crate) fn with_line_limit(mut self, limit: usize) -> Self {
        if let Some(reader) = &mut self.reader {
            reader.lines.set_limit(limit);
        }
        self
    }

    /// Sets the token that ends the input. It is also cancelled when the input ends, before the requests in
    /// flight are awaited, because subscriptions would otherwise never end.
    pub(crate) fn with_end(mut self, disconnected: CancellationToken) -> Self {
        if let Some(reader) = &mut self.reader {
            reader.disconnected = disconnected;
        }
        self
    }

    /// Sets the number of unwritten bytes at which senders wait (4 MiB by default).
    #[cfg(all(test, unix))]
    pub(crate) fn with_queue_limit(self, limit: usize) -> Self {
        self.connection.writer.set_limit(limit);
        self
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = io::Error;

    /// Queues the message immediately, so that the order of calls is kept. The returned future writes the queue
    /// when it is polled, so that messages queued in between share a system call.
    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let queued = self.connection.send(message);
        let writer = self.connection.writer.clone();
        async move {
            queued?;
            writer.flush();
            writer.capacity().await
        }
    }

    /// The next message; `None` after the last one. Cancel safe.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        if let Some(reader) = self.reader.take() {
            spawn(Box::pin(read_loop::run(reader)));
        }
        self.messages.recv().await
    }

    /// Waits until everything is answered and written, for a limited time.
    async fn close(&mut self) -> io::Result<()> {
        self.connection.cancel_calls();
        // A call that does not end within the limit is not answered.
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.connection.all_answered()).await;
        self.connection.writer.flush();
        self.connection.writer.close();
        let drained = self.connection.drained().await;
        self.pump.stop();
        self.connection.closed.cancel();
        drained
    }
}

impl Drop for StdioTransport {
    /// rmcp drops the transport without closing it when a handshake fails: queued bytes are still
    /// written, as long as the runtime exists.
    fn drop(&mut self) {
        self.connection.writer.flush();
        self.connection.writer.close();
        self.connection.closed.cancel();
    }
}
