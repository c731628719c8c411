//! Everything that is tested from outside, a module a topic.

#![allow(missing_docs)]

mod arguments;
mod batches;
mod blocking;
mod calls;
mod cli;
mod examples;
mod floors;
mod hooks;
mod layers;
mod outputs;
mod outputs_limited;
mod patterns;
mod peers;
mod pools;
mod quickstart;
mod server;
mod support;
mod ui;
mod validation;
