//! A manager and servers that a test writes.

mod lists;
mod malformed_answers;
mod schemas;
mod support;
