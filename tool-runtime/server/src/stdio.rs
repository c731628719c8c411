//! The protocol over standard input and output: one JSON message a line.
//!
//! rmcp has a transport of its own. This one also serves sockets and files, keeps prints of tools out of
//! the protocol, answers every invalid line, and does not parse the arguments of `tools/call`, which is most
//! of the cost of a call.
//!
//! Descriptors 0 and 1 are duplicated (`descriptor`); 0 then reads `/dev/null` and 1 is standard error.
//! FIFOs are reopened non-blocking through `/proc`, sockets use `MSG_DONTWAIT`, everything else has a
//! thread. Messages that are ready together are written by one system call.
//!
//! The task that reads (`read_loop`) polls plain calls once itself, and hands everything else to rmcp's
//! service loop. While a call is polled, the reader is lent (`Lent` in `read_loop`), so that another task
//! reads on if the call blocks its thread.
//!
//! A fast client is slowed down in three ways: other tasks get a turn after some lines (`YIELD_INTERVAL`
//! in `read_loop`), reading pauses while 1024 calls run (`requests`), and while answers are unread (`queue`).
//!
//! The end of the input, or a signal to the command line, cancels `gone` of the session: reading stops,
//! questions and notifications fail, and after a second the remaining calls are cancelled. rmcp itself
//! would wait for five seconds, and hosts kill after two.
//!
//! Limits: one pair of streams per process, no JSON-RPC batches, and on systems without `/proc`
//! a pipe is served by two threads instead of the runtime's event loop. On Windows all streams are,
//! and prints of C code reach the protocol (`handles`).

#[cfg(unix)]
mod blocking_io;
mod call_state;
mod connection;
mod descriptor;
#[cfg(unix)]
mod descriptor_kind;
mod fast_call;
#[cfg(fuzzing)]
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
#[cfg(fuzzing)]
pub use fuzz::{Fate, fates};
pub(crate) use transport::StdioTransport;
