//! Everything that is tested from outside, a module a topic.

#![allow(missing_docs)]

mod arguments;
mod assembly;
mod batches;
mod blocking;
mod calls;
mod changes;
mod cli;
mod examples;
mod floors;
mod held_ground;
mod hooks;
mod host_tools;
mod http;
mod layers;
mod outputs;
mod outputs_limited;
mod patterns;
mod peers;
mod pools;
mod quickstart;
mod registry;
mod restrictions;
mod server;
mod stdio;
mod support;
mod toolsets;
mod ui;
mod validation;
