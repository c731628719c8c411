//! The protocol over standard input and output: one JSON message a line.
//!
//! rmcp brings a transport of its own. This one exists because hosts also hand us sockets and
//! files, because nothing a tool prints may reach the protocol stream, because every line a peer
//! gets wrong deserves an answer, and because parsing `tools/call` dominates the cost of a call.
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
