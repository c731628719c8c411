//! The server over HTTP, by requests written by hand: what no official client shows.

mod auth;
mod client;
mod ends;
mod eras;
mod limits;
mod program;
mod refusals;
mod served;
mod sessions;
