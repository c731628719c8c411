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
mod descriptor;
#[cfg(unix)]
mod descriptor_kind;
mod double_option;
mod exact;
#[cfg(fuzzing)]
mod fuzz;
#[cfg(windows)]
mod handles;
mod handshake_filter;
mod inbound;
mod message;
mod methods;
mod outlet;
#[cfg(unix)]
mod polled;
mod pump_memory;
#[cfg(unix)]
mod pump_task;
mod pump_thread;
mod queue;
mod read_budget;
mod reader;
mod refusal;
mod tool_call;
mod transport;
mod writer;

#[cfg(all(test, unix))]
mod tests;

pub(crate) use double_option::double_option;
#[cfg(fuzzing)]
pub use fuzz::{Fate, fates};
pub(crate) use methods::{is_known_method, is_old_method};
#[cfg(feature = "http")]
pub(crate) use refusal::{Refusal, diagnose, unusable_cursor};
pub(crate) use tool_call::RawArguments;
pub(crate) use transport::StdioTransport;
