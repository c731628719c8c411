//! The protocol over standard input and output, with one JSON message per line.
//!
//! rmcp has its own transport. This one also serves sockets and files, keeps output that tools print out
//! of the protocol, answers every invalid line, and does not parse the arguments of `tools/call`, which is most
//! of the cost of a call.
//!
//! Descriptors 0 and 1 are duplicated (`descriptor`); 0 then reads `/dev/null` and 1 is standard error. FIFOs are
//! reopened non-blocking through `/proc`, sockets use `MSG_DONTWAIT`, everything else has a thread. Messages that are
//! ready at the same time are written by one system call.
//!
//! The task that reads (`read_loop`) polls plain calls once itself, and passes everything else to rmcp's
//! service loop. While a call is polled, another task can take over the
//! reader (`SharedReader` in `read_loop`) and continue to read if the call blocks its thread.
//!
//! Back pressure: the reader yields to other tasks after 64 lines (`YIELD_INTERVAL` in `read_loop`). Reading
//! pauses while 1024 calls run (`requests`); after 5 seconds more calls are rejected (`STALL_TIMEOUT`).
//! Reading also pauses while too many answers are unread (`queue`).
//!
//! The end of the input, or a signal, cancels the token `disconnected`: reading stops, requests to the client and
//! notifications fail, and after one second the remaining calls are cancelled. rmcp itself would wait for
//! five seconds, but hosts kill a server after two.
//!
//! Limits: one pair of streams per process, no JSON-RPC batches, and on systems without `/proc`
//! a pipe is served by two threads instead of the runtime's event loop. On Windows threads serve all streams,
//! and output that C code prints reaches the client (`handles`).

#[cfg(unix)]
mod blocking_io;
mod call_state;
mod connection;
mod descriptor;
#[cfg(unix)]
mod descriptor_kind;
mod fast_call;
#[cfg(feature = "__fuzz")]
mod fuzz;
#[cfg(windows)]
mod handles;
mod handshake_filter;
mod message;
#[cfg(unix)]
mod polled;
mod pump;
#[cfg(unix)]
mod pump_task;
mod queue;
mod read_loop;
mod reader;
mod requests;
mod transport;
mod writer;

#[cfg(all(test, unix))]
mod tests;

pub(crate) use connection::Connection;
pub(crate) use fast_call::PlainCalls;
#[cfg(feature = "__fuzz")]
pub use fuzz::{LineOutcome, line_outcomes};
pub(crate) use transport::StdioTransport;
