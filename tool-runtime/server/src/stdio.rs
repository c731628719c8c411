//! The protocol over standard input and output: one JSON message a line.
//!
//! rmcp brings a transport of its own. This one exists because hosts also hand us sockets and
//! files, because nothing a tool prints may reach the protocol stream, because every line a peer
//! gets wrong deserves an answer, and because parsing `tools/call` dominates the cost of a call.
//!
//! Descriptors 0 and 1 are duplicated (`descriptor`); 0 then reads `/dev/null` and 1 is standard error.
//! FIFOs are reopened non-blocking through `/proc`, sockets use `MSG_DONTWAIT`, everything else has a
//! thread. Messages that are ready together leave in one write.
//!
//! The task that reads (`read_loop`) polls plain calls once itself, and hands everything else to rmcp's
//! service loop. While a call is polled, the reader is lent (`Lent` in `read_loop`), so that another task
//! reads on if the call blocks its thread.
//!
//! A client that sends faster than it is served is slowed down in two ways: after some messages other
//! tasks get their turn (`YIELD_INTERVAL` in `read_loop`), and 1024 calls run at most, further ones wait as text
//! (`backlog`).
//!
//! The end of the input, or a signal to the command line, cancels `gone` of the session: reading stops,
//! questions and notifications fail, and after a second the remaining calls are cancelled. rmcp itself
//! would wait for five seconds, and hosts kill after two.
//!
//! Limits: one pair of streams per process, no JSON-RPC batches, and on systems without `/proc`
//! a pipe is served by two threads instead of the runtime's event loop. On Windows all streams are,
//! and what C code prints is not kept from the protocol (`handles`).

mod backlog;
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
mod inbound;
mod message;
#[cfg(unix)]
mod outlet;
mod plain_calls;
#[cfg(unix)]
mod polled;
mod pump_memory;
#[cfg(unix)]
mod pump_task;
mod pump_thread;
mod queue;
mod read_loop;
mod reader;
mod tool_call;
mod transport;
mod writer;

#[cfg(all(test, unix))]
mod tests;

#[cfg(fuzzing)]
pub use fuzz::{Fate, fates};
pub(crate) use plain_calls::PlainCalls;
pub(crate) use transport::{Outbox, StdioTransport};
