//! The server over HTTP, tested with raw requests that official clients do not send.

mod answers;
mod auth;
mod cancellation;
pub(crate) mod client;
mod duplicate_ids;
mod fast_path;
mod jwt;
mod limits;
mod limits_per_client;
mod nested;
mod program;
mod questions;
mod rejections;
mod scopes;
mod session_values;
mod sessions;
mod streams;
mod test_server;
mod versions;
