//! What holds for every input, one module a topic. `tests/seeds.rs` checks it for the inputs in `fuzz/seeds`; the fuzz
//! targets in `fuzz` look for others.

#![allow(missing_docs, reason = "used by tests alone")]

pub mod arguments;
pub mod connection;
pub mod http;
pub mod line;
pub mod model;
pub mod session;
mod tools;
