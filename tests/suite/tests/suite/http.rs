//! The server over HTTP, tested with raw requests that official clients do not send.

mod answers;
mod auth;
pub(crate) mod client;
mod ends;
mod fast_path;
mod jwt;
mod limits;
mod nested;
mod program;
mod questions;
mod rejections;
mod repeats;
mod scopes;
mod served;
mod session_values;
mod sessions;
mod shares;
mod streams;
mod versions;
