//! A peer for the transport under test.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use super::super::StdioTransport;
use crate::time_limit::{LIMIT, in_time};

/// A file that is read for at most five minutes at a time.
pub(super) struct Output(pub(super) File);

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let limit = Timespec::try_from(LIMIT).expect("five minutes");
        match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&limit))? {
            0 => panic!("waited {LIMIT:?} for the transport to write"),
            _ => self.0.read(buffer),
        }
    }
}

/// The other ends of a transport's descriptors, used with blocking calls.
pub(super) struct Peer {
    /// The input of the transport.
    pub(super) to: File,
    /// The output of the transport.
    pub(super) from: BufReader<Output>,
}

impl Peer {
    /// Writes bytes unchanged.
    pub(super) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.to.write_all(bytes.as_ref()).expect("the pipe is open");
    }

    /// Reads one message; `None` at the end.
    pub(super) fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        let length = self.from.read_line(&mut line).expect("readable UTF-8");
        (length > 0).then(|| serde_json::from_str(&line).expect("a line of JSON"))
    }

    /// Reads one message, which must arrive.
    pub(super) fn expect(&mut self) -> Value {
        self.read().expect("a message before the end")
    }

    /// Writes a request and reads the next message.
    pub(super) fn ask(&mut self, request: &Value) -> Value {
        self.write(format!("{request}\n"));
        self.expect()
    }
}

/// A pipe, reading end first.
pub(super) fn pipe() -> (OwnedFd, OwnedFd) {
    let (reading, writing) = std::io::pipe().expect("a pipe");
    (reading.into(), writing.into())
}

/// Two connected sockets.
fn sockets() -> (OwnedFd, OwnedFd) {
    let (left, right) = UnixStream::pair().expect("a socket pair");
    (left.into(), right.into())
}

/// The descriptors of a transport over two pairs, and the peer at their other ends.
fn ends(input: (OwnedFd, OwnedFd), output: (OwnedFd, OwnedFd)) -> (Peer, OwnedFd, OwnedFd) {
    let peer = Peer { to: input.1.into(), from: BufReader::new(Output(output.0.into())) };
    (peer, input.0, output.1)
}

/// Descriptors of two pipes.
pub(super) fn pipe_ends() -> (Peer, OwnedFd, OwnedFd) {
    ends(pipe(), pipe())
}

/// Descriptors of two socket pairs, as created by hosts in Node.js.
pub(super) fn socket_ends() -> (Peer, OwnedFd, OwnedFd) {
    ends(sockets(), sockets())
}

/// A transport over pipes.
pub(super) fn over_pipes() -> (Peer, StdioTransport) {
    connect(pipe_ends())
}

/// A transport over sockets.
pub(super) fn over_sockets() -> (Peer, StdioTransport) {
    connect(socket_ends())
}

/// Builds the transport.
pub(super) fn connect((peer, input, output): (Peer, OwnedFd, OwnedFd)) -> (Peer, StdioTransport) {
    let transport = StdioTransport::from_descriptors(input, output).expect("a transport");
    (peer, transport)
}

/// The next message that a transport receives; `None` at the end of the input.
pub(super) async fn received(
    transport: &mut StdioTransport,
) -> Option<RxJsonRpcMessage<RoleServer>> {
    in_time("the transport to receive", transport.receive()).await
}

/// Sends a message.
pub(super) async fn sent(
    transport: &mut StdioTransport,
    message: TxJsonRpcMessage<RoleServer>,
) -> io::Result<()> {
    in_time("the transport to send", transport.send(message)).await
}

/// Closes a transport.
pub(super) async fn closed(transport: &mut StdioTransport) -> io::Result<()> {
    in_time("the transport to close", transport.close()).await
}

/// A line that rmcp delivers in every state of the session.
pub(super) fn ping(id: i64) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))
}

/// A message of about `size` bytes, recognisable by its id.
pub(super) fn large_message(id: i64, size: usize) -> TxJsonRpcMessage<RoleServer> {
    let error = ErrorData::internal_error("x".repeat(size), None);
    JsonRpcMessage::error(error, Some(RequestId::Number(id)))
}

/// The id of a request.
pub(super) fn id_of(message: Option<RxJsonRpcMessage<RoleServer>>) -> Option<i64> {
    match message?.into_request().expect("a request").1 {
        RequestId::Number(id) => Some(id),
        RequestId::String(_) => None,
    }
}

/// Polls once, as one round of rmcp's `select!` does.
pub(super) fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Runs blocking code of a peer without blocking the runtime.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.expect("no panic in the peer")
}
