//! External MCP servers, whose tools become tools of a pool.
//!
//! - Every server has a supervisor. A change of a server runs to its end in a separate task, whether or not the caller
//!   waits (`manager.rs`). A supervisor that ends without a successor closes its server and removes its tools (`slot.rs`). A
//!   panic counts as a failed attempt.
//! - A name belongs to one manager of a pool (`Claim` of the core). Prefixes of ids are neither equal nor nested
//!   (`manager/settings.rs`).
//! - A call to a disconnected server wakes the supervisor, unless it failed five times in a row; all callers wait for that
//!   one attempt. A request that was sent and not answered is repeated only for idempotent tools of trusted servers.
//! - A remote tool enforces its own timeout, so that progress can extend it; the pool's limit does not apply. All calls
//!   of a connection share one timer.
//! - Servers are not trusted with memory or time. Outgoing messages wait in a bounded queue whose stalling ends the connection
//!   (`transport/outgoing.rs`). A server that sends too many requests is not read (`pending_requests.rs`). A message that
//!   cannot be read ends the call that it was meant for (`recovery.rs`). Schemas become 2020-12 on import
//!   (`definition.rs`, by the core), so that nothing behind it knows older drafts. The cost of checking a value by a server's schema is
//!   counted first (`schema/`). Long lists yield to other tasks. Text of a server is redacted before it is shown
//!   (`redactors.rs`).
//! - Over HTTP, requests are independent: a bad answer loses one call. A failed connection attempt, missing
//!   authorization or the end of the session ends the connection, and the supervisor opens another. rmcp would reconnect silently, and changes in
//!   between would be lost.

mod backoff;
mod connect_error;
mod connection;
mod connector;
mod convert_result;
mod definition;
mod disguised_errors;
mod expected;
mod failure;
mod handler;
mod in_flight_call;
mod in_words;
mod input_required;
mod listing;
mod manager;
mod names;
mod notification_router;
mod nulls;
mod observed_transport;
mod odd_answers;
#[cfg(feature = "http")]
mod param_headers;
mod pending_requests;
mod pins;
mod pins_file;
mod probe;
pub(crate) mod process;
#[cfg(test)]
#[path = "../../core/property.rs"]
mod property;
mod publisher;
mod recovery;
mod redactors;
mod remote_tool;
mod request_timeouts;
mod resource_listing;
mod schema;
mod send_request;
mod server;
mod server_requests;
mod status;
mod supervisor;
mod tasks;
#[cfg(test)]
mod tests;
#[cfg(test)]
#[path = "../../core/src/vocabulary/time_limit.rs"]
mod time_limit;
mod trace;
mod transport;
mod verbatim;

pub use manager::{McpChange, McpManager, McpManagerBuilder, McpManagerError, McpStatuses};
pub use pins::{McpPin, McpPins, McpUnapproved};
pub use process::Subreaper;
pub use status::{McpServerStatus, McpState};
#[cfg(feature = "http")]
pub use transport::McpHeaderRequest;
#[cfg(feature = "oauth")]
pub use transport::{McpAuthPage, McpTokens};
pub use transport::{McpReader, McpWriter};
