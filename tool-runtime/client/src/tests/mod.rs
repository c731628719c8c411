//! A manager and servers that a test writes.

#[cfg(feature = "http")]
mod http;
mod lists;
mod malformed_answers;
mod schemas;
mod support;
