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
//! // A script replaces the model here; implement `Model` for an API.
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
//! [`guide`] shows how to write one: models, tools, events, rules, sub-agents, tests.
//!
//! | Module | Topic |
//! |---|---|
//! | `agent` | the settings of an agent; an agent as a tool of another |
//! | `run`, `event` | one conversation: requests and calls in turns, as events |
//! | `servers` | the MCP servers of a conversation |
//! | `sub_agents` | agents that calls start |
//! | `model` | the trait that an API implements; `tool-runtime-genai` does for the APIs of genai |
//! | `trace` | the spans of an agent |
//! | `scripted` | a model that follows a file, for tests |
//!
//! # An agent as an MCP server
//!
//! [`Agent::into_tool`] makes a tool of an agent, which is served like any other:
//!
//! ```no_run
//! use tool_runtime::mcp::McpServer;
//! use tool_runtime::prelude::*;
//! # use tool_runtime_agent::{Agent, ScriptedModel};
//!
//! # async fn serve(agent: Agent) -> Result<(), Box<dyn std::error::Error>> {
//! let research = agent.into_tool("research", "Research a question, and answer with sources.");
//! let pool = ToolPool::builder().add(research).build()?;
//! McpServer::new(pool, "research", "1.0.0").serve_stdio().await?;
//! # Ok(())
//! # }
//! ```
//!
//! | Feature | Enables |
//! |---|---|
//! | `mcp-client` | MCP servers of conversations, [`Agent::from_mcp_file`] |
//! | `policy` | permission modes of sub-agents, [`SubAgents::permissions`] |

#[doc = include_str!("../docs/guide.md")]
pub mod guide {}

mod agent;
mod call_peer;
mod event;
mod model;
mod run;
mod scripted;
#[cfg(feature = "mcp-client")]
mod servers;
mod sub_agents;
#[cfg(test)]
mod tests;
mod trace;

pub use agent::Agent;
pub use event::{AgentEvent, StopReason};
pub use model::{Deltas, Model, ModelError, ModelRequest};
pub use run::Run;
pub use scripted::{ScriptError, ScriptedModel};
pub use sub_agents::{AgentKind, SubAgents};
pub use tool_runtime::export::Delta;
