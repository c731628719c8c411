//! Adds the tools to a pool, and the mailbox of agent loops.

use super::{Agents, Board, Delegation, Mailbox, Runner, TasksParams, Teams};
use crate::builtins::Builtins;
use std::sync::Arc;
use tool_runtime::ToolPoolBuilder;
use tool_runtime::agent::AgentMailbox;
use tool_runtime::pool::Source;

impl Builtins {
    /// Adds the tools for tasks, teams and sub-agents. Agent loops over the pool receive the messages of teams. Without
    /// a spawner of agents the tools that start some are hidden.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime_builtins::tasks::{TaskStore, TasksParams};
    /// use tool_runtime_builtins::{Builtins, Workspace};
    /// # let directory = tempfile::tempdir()?;
    /// # let file = directory.path().join("tasks.db");
    ///
    /// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
    /// let params = TasksParams::new(TaskStore::open(file)?);
    /// let pool = ToolPool::builder().install(Builtins::new(workspace).tasks(params)).build()?;
    /// assert!(pool.get("TaskCreate").is_some());
    /// assert!(pool.report().to_string().contains("no spawner of agents"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tasks(self, params: TasksParams) -> Self {
        self.family(|builtins, pool| install(builtins, params, pool))
    }
}

fn install(builtins: &Builtins, params: TasksParams, pool: ToolPoolBuilder) -> ToolPoolBuilder {
    let (store, runner) = (params.store.clone(), Runner::new(params.store));
    let reason = "no spawner of agents; give one by `TasksParams::agents`";
    let spawner = params.agents.ok_or_else(|| reason.to_owned());
    let delegation = spawner.clone().map(|spawner| Delegation::new(spawner, store.clone()));
    let agents = spawner.map(|spawner| Agents::new(spawner, store.clone(), Arc::clone(&runner)));
    let tools = builtins.tools(Ok(Board::new(store.clone(), runner)));
    let tools = tools.into_iter().chain(builtins.tools(Ok(Teams::new(store.clone()))));
    let tools = tools.chain(builtins.tools(agents)).chain(builtins.tools(delegation));
    let mailbox: Arc<dyn AgentMailbox> = Arc::new(Mailbox(store));
    pool.add_from(&Source::Custom, tools).state(mailbox)
}
