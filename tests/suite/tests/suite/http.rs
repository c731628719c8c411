//! The server over HTTP, by requests written by hand: what no official client shows.

mod answers;
mod auth;
pub(crate) mod client;
mod ends;
mod fast_path;
mod limits;
mod nested;
mod program;
mod questions;
mod refusals;
mod repeats;
mod served;
mod session_values;
mod sessions;
mod shares;
mod streams;
mod versions;
