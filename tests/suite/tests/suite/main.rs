//! Everything that is tested from outside, a module a topic.

#![allow(missing_docs)]

mod arguments;
mod asking;
mod asking_again;
mod asking_inside;
mod assembly;
mod batches;
mod blocking;
mod calls;
mod changes;
mod checkers;
mod cli;
mod client_http;
mod conformance;
mod endings;
mod examples;
mod floors;
mod hard_knocks;
mod held_ground;
mod held_ground_mcp;
mod hooks;
mod host_tools;
mod http;
mod in_memory;
mod in_memory_clients;
mod layers;
mod list_changed;
mod mcp_client;
mod outputs;
mod outputs_limited;
mod patterns;
mod peers;
mod pools;
mod prompts;
mod quickstart;
mod registry;
mod resources;
mod restrictions;
mod server;
mod stdio;
mod support;
mod telling;
mod toolsets;
mod ui;
mod validation;
