//! An agent: a model that calls the tools of a pool until its task is done.
//!
//! ```
//! use tool_runtime::prelude::*;
//! use tool_runtime_agent::{Agent, AgentEvent, ScriptedModel};
//!
//! /// Add two integers.
//! #[tool(read_only)]
//! async fn add(
//!     /// First addend.
//!     a: i64,
//!     /// Second addend.
//!     b: i64,
//! ) -> i64 {
//!     a + b
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let pool = ToolPool::builder().tool::<AddAction>().build()?;
//! // A script stands for a model here; implement `Model` for an API.
//! let model = ScriptedModel::from_json(r#"[
//!     { "calls": [{ "name": "add", "arguments": { "a": 40, "b": 2 } }] },
//!     { "text": "It is 42." }
//! ]"#)?;
//! let mut run = Agent::new(model, pool).run("What is 40 + 2?");
//! while let Some(event) = run.next().await {
//!     match event {
//!         AgentEvent::Call(call) => println!("{} {}", call.name(), call.arguments()),
//!         AgentEvent::Result(result) => println!("{}", result.observation().to_text()),
//!         AgentEvent::Message(text) => assert_eq!(text, "It is 42."),
//!         _ => {}
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! | Module | Topic |
//! |---|---|
//! | `agent` | the settings of an agent; an agent as a tool of another |
//! | `run` | one run: requests and calls in turns, as events |
//! | `model` | the trait that an API implements |
//! | `scripted` | a model that follows a file, for tests |

mod agent;
mod model;
mod run;
mod scripted;
#[cfg(test)]
mod tests;

pub use agent::Agent;
pub use model::{Deltas, Model, ModelError, ModelRequest};
pub use run::{AgentEvent, Run, StopReason};
pub use scripted::{ScriptError, ScriptedModel};
pub use tool_runtime::export::Delta;
