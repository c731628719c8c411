//! External MCP servers, whose tools become tools of a pool.

mod as_it_came;
mod backoff;
mod connection;
mod connector;
mod convert_result;
mod definition;
mod failure;
mod handler;
mod in_flight_call;
mod input_required;
mod listing;
mod manager;
mod names;
mod notification_router;
mod nulls;
mod observed_transport;
mod pending_requests;
mod pins;
mod prefixes;
mod probe;
pub(crate) mod process;
mod publisher;
mod recovery;
mod redactors;
mod refusal;
mod refused;
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
#[path = "../../core/src/time_limit.rs"]
mod time_limit;
mod transport;
mod yield_budget;

pub use manager::{McpChange, McpManager, McpManagerBuilder, McpManagerError, McpStatuses};
pub use pins::{McpPin, McpPins, McpUnapproved};
pub use process::Subreaper;
pub use status::{McpServerStatus, McpState};
#[cfg(feature = "http")]
pub use transport::McpHeaderRequest;
#[cfg(feature = "oauth")]
pub use transport::{McpAuthPage, McpTokens};
pub use transport::{McpReader, McpWriter};
