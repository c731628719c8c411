//! Tools for tasks, teams and sub-agents, over a file that processes share.
//!
//! A principal sees its own tasks and teams, from all its sessions and processes, and those of no other; anonymous
//! callers are one principal. Ids are ordered, `task_1`, `task_2`, and never given twice.
//!
//! # Tasks
//!
//! | Status | May become |
//! |---|---|
//! | `pending` | `in_progress`, `completed`, `failed`, `cancelled` |
//! | `in_progress` | `pending`, `completed`, `failed`, `cancelled` |
//! | `completed`, `failed`, `cancelled` | nothing |
//!
//! An agent in the background is a task, whose status follows the agent. `TaskStop` ends the agent, also from another
//! process: the process that runs it reads the request within a quarter of a second. If that process ends, however it
//! does, the task has failed. So has it if the session that started the agent ends first; an agent of a call without
//! a session runs until the pool closes. Its calls have the permission modes and the labels of the call that
//! started it.
//!
//! # Teams
//!
//! The agent that no other agent started is the `lead` of all teams of its principal; an agent that was started with
//! `team_name` is a member. Members send messages to members of their own team. An agent loop adds them to the
//! conversation before the next request to its model, by [`AgentMailbox`](tool_runtime::agent::AgentMailbox); other programs
//! call `ReadMessages`. A message is read once. Two programs of one principal that share a file are one lead: give
//! them principals of their own, or a file each.
//!
//! | Module | Topic |
//! |---|---|
//! | `store`, `state` | the file, its limits; the state machine |
//! | `record`, `task_rows`, `team_rows` | tasks as returned; tasks, teams and messages in the file |
//! | `runner`, `alive` | agents in the background; processes that ended |
//! | `board` | the tools for tasks |
//! | `team`, `identity` | the tools for teams; the identity of an agent |
//! | `agents`, `spawn`, `kinds` | `Agent`; its inputs; `Explore` and `Plan` |
//! | `delegate` | `delegate` of OpenHands: agents by names that the model chooses |

mod agents;
mod alive;
mod board;
mod delegate;
mod identity;
mod install;
mod kinds;
mod record;
mod runner;
mod spawn;
mod state;
mod store;
mod task_rows;
mod team;
mod team_rows;
#[cfg(test)]
mod tests;

pub use agents::{AgentReport, SubAgentStatus};
pub use delegate::{DelegateCommand, DelegateReport, DelegatedAgent, DelegatedStatus};
pub use record::{TaskList, TaskRecord, TaskSummary};
pub use state::{NewTaskStatus, TaskStatus};
pub use store::{TaskStore, TaskStoreError};
pub use team_rows::Team;

pub(crate) use agents::Agents;
pub(crate) use board::Board;
pub(crate) use delegate::Delegation;
pub(crate) use runner::Runner;
pub(crate) use team::{Mailbox, Teams};

use std::fmt;
use std::sync::Arc;
use tool_runtime::agent::AgentSpawner;

/// Settings of the tools for tasks, teams and sub-agents.
///
/// ```
/// use tool_runtime_builtins::tasks::{TaskStore, TasksParams};
/// # let directory = tempfile::tempdir()?;
/// # let file = directory.path().join("tasks.db");
///
/// let params = TasksParams::new(TaskStore::open(file)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TasksParams {
    pub(crate) store: TaskStore,
    pub(crate) agents: Option<Arc<dyn AgentSpawner>>,
}

impl TasksParams {
    /// Tasks and teams in a file, without agents.
    pub fn new(store: TaskStore) -> Self {
        Self { store, agents: None }
    }

    /// Sets what starts agents, such as `SubAgents` of `tool-runtime-agent`. Default: none, and the tools that start
    /// agents are hidden.
    #[must_use]
    pub fn agents(mut self, agents: Arc<dyn AgentSpawner>) -> Self {
        self.agents = Some(agents);
        self
    }
}

impl fmt::Debug for TasksParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TasksParams")
            .field("store", &self.store)
            .field("has_agents", &self.agents.is_some())
            .finish()
    }
}
