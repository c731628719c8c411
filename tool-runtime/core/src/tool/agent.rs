//! The seam between tools and agents: the run of an agent that calls tools, and tools that start agents.

mod run;
mod spawner;

pub use run::{AgentMailbox, AgentRun};
pub use spawner::{AgentHandle, AgentOutcome, AgentSpawner, SpawnKind, SpawnMode, SpawnRequest};
