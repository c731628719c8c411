//! External MCP servers, whose tools become tools of a pool.

mod as_it_came;
mod backoff;
mod connection;
mod definition;
mod dialer;
mod exchange;
mod failure;
mod handler;
mod hearing;
mod listener;
mod listing;
mod manager;
mod mask;
mod names;
mod nulls;
mod offer;
mod outcome;
mod owed;
mod pace;
mod patience;
mod pins;
mod plain;
mod prefixes;
mod probe;
pub(crate) mod process;
mod publisher;
mod questions;
mod reading;
mod refusal;
mod refused;
mod remote;
mod rounds;
mod schema;
mod server;
mod status;
mod supervisor;
mod tasks;
#[cfg(test)]
#[path = "../../core/src/time_limit.rs"]
mod time_limit;
mod transport;
mod wire;

pub use manager::{McpChange, McpManager, McpManagerBuilder, McpManagerError, McpStatuses};
pub use pins::{McpPin, McpPins, McpUnapproved};
pub use process::Subreaper;
pub use status::{McpServerStatus, McpState};
#[cfg(feature = "http")]
pub use transport::McpHeaderRequest;
#[cfg(feature = "oauth")]
pub use transport::{McpAuthPage, McpTokens};
pub use transport::{McpReader, McpWriter};
