//! The tool `delegate` of OpenHands: agents by names that the model chooses.

use super::kinds::{self, GENERAL};
use super::runner::output;
use super::spawn::{AgentInput, spawner_of};
use super::store::TaskStore;
use crate::builtins::{Family, Profile};
use crate::per_caller::PerCaller;
use crate::tool_output::ToolOutput;
use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use tool_runtime::__seam::listed;
use tool_runtime::agent::{AgentSpawner, SpawnRequest};
use tool_runtime::prelude::*;

/// Agents of one caller.
const MAX_AGENTS: usize = 5;

/// The command of `delegate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum DelegateCommand {
    /// Names agents.
    Spawn,
    /// Gives tasks to them.
    Delegate,
}

/// The result of `delegate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct DelegateReport {
    /// The agents that were named, or had a task, sorted by name.
    pub agents: Vec<DelegatedAgent>,
}

/// An agent, as the last command left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct DelegatedAgent {
    /// The name that the model chose.
    pub id: String,
    /// The type of agent.
    pub agent_type: String,
    /// The state.
    pub status: DelegatedStatus,
    /// The answer, or the reason of the failure. `None` without a task.
    pub result: Option<String>,
}

/// The state of an agent of `delegate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DelegatedStatus {
    /// It waits for a task.
    Spawned,
    /// It has answered.
    Completed,
    /// It has not answered.
    Failed,
}

/// The tool `delegate`.
pub(crate) struct Delegation {
    spawner: Arc<dyn AgentSpawner>,
    store: TaskStore,
    children: PerCaller<BTreeMap<String, Child>>,
}

/// An agent that a caller has named.
#[derive(Clone, Default)]
struct Child {
    agent_type: String,
    /// The id that resumes it, once it had a task.
    agent: Option<String>,
}

#[toolset(
    prefix = "",
    read_only = false,
    destructive,
    idempotent = false,
    open_world,
    register = false
)]
impl Delegation {
    /// Work with up to five other agents. `spawn` names them; `delegate` gives tasks to some of them, which they do at
    /// the same time, and waits for all answers. An agent remembers its earlier tasks; `spawn` of its name begins anew.
    #[tool(name = "delegate", tags("advanced"), writes())]
    async fn delegate(
        &self,
        /// The command.
        command: DelegateCommand,
        /// For `spawn`: names of your choice for the agents.
        #[arg(default, length = 0..=5)]
        ids: Vec<String>,
        /// For `spawn`: the type of each agent, in the order of `ids`. Default: `general-purpose`.
        #[arg(default, length = 0..=5)]
        agent_types: Vec<String>,
        /// For `delegate`: a task for each name, with everything that is needed to do it.
        #[arg(default)]
        tasks: BTreeMap<String, String>,
        context: &ToolContext,
    ) -> Result<ToolOutput<DelegateReport>, ToolError> {
        let agents = match command {
            DelegateCommand::Spawn if tasks.is_empty() => self.name(&ids, &agent_types, context)?,
            DelegateCommand::Delegate if ids.is_empty() && agent_types.is_empty() => {
                self.assign(tasks, context).await?
            }
            DelegateCommand::Spawn => {
                return Err(ToolError::user("`tasks` is for `delegate`; spawn the agents first"));
            }
            DelegateCommand::Delegate => {
                let text = "`ids` and `agent_types` are for `spawn`; `tasks` has the names";
                return Err(ToolError::user(text));
            }
        };
        Ok(ToolOutput::from_display(DelegateReport { agents }))
    }

    /// Names agents, which begin with their first task.
    fn name(
        &self,
        ids: &[String],
        types: &[String],
        context: &ToolContext,
    ) -> Result<Vec<DelegatedAgent>, ToolError> {
        if ids.is_empty() || types.len() > ids.len() {
            let text = "`spawn` needs `ids`, and at most as many `agent_types`";
            return Err(ToolError::user(text));
        }
        let pool = context.pool().ok_or_else(|| ToolError::user("no pool runs this call"))?;
        let types = types.iter().map(|name| known_type(name)).chain(std::iter::repeat(GENERAL));
        let named: BTreeMap<String, Child> = ids
            .iter()
            .zip(types)
            .map(|(id, name)| (id.clone(), Child { agent_type: name.to_owned(), agent: None }))
            .collect();
        if named.len() < ids.len() || named.contains_key("") {
            return Err(ToolError::user("`ids` must be different names that are not empty"));
        }
        for child in named.values() {
            kinds::apply(SpawnRequest::new(""), &child.agent_type, &*self.spawner, &pool)?;
        }
        self.children.with(context, |children| {
            let added = named.keys().filter(|id| !children.contains_key(*id)).count();
            if children.len() + added > MAX_AGENTS {
                let text = format!(
                    "at most {MAX_AGENTS} agents; begin one of these anew: {}",
                    listed(children.keys())
                );
                return Err(ToolError::user(text));
            }
            let spawned = named.iter().map(|(id, child)| DelegatedAgent {
                id: id.clone(),
                agent_type: child.agent_type.clone(),
                status: DelegatedStatus::Spawned,
                result: None,
            });
            let spawned = spawned.collect();
            children.extend(named);
            Ok(spawned)
        })
    }

    /// Runs all tasks at the same time.
    async fn assign(
        &self,
        tasks: BTreeMap<String, String>,
        context: &ToolContext,
    ) -> Result<Vec<DelegatedAgent>, ToolError> {
        let children = self.children.with(context, |children| children.clone());
        if let Some(unknown) = tasks.keys().find(|id| !children.contains_key(*id)) {
            let known = listed(children.keys());
            let text = format!("`{unknown}` is not an agent; `spawn` it first. Agents: {known}");
            return Err(ToolError::user(text));
        }
        if tasks.is_empty() {
            return Err(ToolError::user("`delegate` needs `tasks`: a task for each name"));
        }
        let runs = tasks.into_iter().filter_map(|(id, task)| {
            let child = children.get(&id)?.clone();
            Some(self.run(id, child, task, context))
        });
        let agents = join_all(runs).await;
        match agents.iter().any(|agent| agent.status == DelegatedStatus::Completed) {
            true => Ok(agents),
            false => Err(ToolError::user(DelegateReport { agents }.to_string())),
        }
    }

    async fn run(
        &self,
        id: String,
        child: Child,
        task: String,
        context: &ToolContext,
    ) -> DelegatedAgent {
        let agent_type = child.agent_type.clone();
        let (status, result) = match self.answer(&id, child, task, context).await {
            Ok(answer) => (DelegatedStatus::Completed, answer),
            Err(error) => (DelegatedStatus::Failed, error.message().to_owned()),
        };
        DelegatedAgent { id, agent_type, status, result: Some(result) }
    }

    async fn answer(
        &self,
        id: &str,
        child: Child,
        task: String,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        let input = AgentInput {
            resume: child.agent,
            ..AgentInput::new(task, id.to_owned(), child.agent_type)
        };
        let handle = input.spawn(&*self.spawner, &self.store, context).await?;
        let agent = handle.id().to_owned();
        self.children.with(context, |children| {
            children.entry(id.to_owned()).and_modify(|child| child.agent = Some(agent));
        });
        handle.await.map(output)
    }

    pub(crate) fn new(spawner: Arc<dyn AgentSpawner>, store: TaskStore) -> Self {
        Self { spawner, store, children: PerCaller::new() }
    }
}

/// The type of an agent. OpenHands has other names for the general one.
fn known_type(name: &str) -> &str {
    if matches!(name, "" | "default") { GENERAL } else { name }
}

impl fmt::Display for DelegateReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |agent: &DelegatedAgent| match (&agent.result, agent.status) {
            (Some(result), DelegatedStatus::Completed) => format!("[{}]\n{result}", agent.id),
            (Some(reason), _) => format!("[{}] failed: {reason}", agent.id),
            (None, _) => format!("spawned `{}` ({})", agent.id, agent.agent_type),
        };
        let parts: Vec<String> = self.agents.iter().map(text).collect();
        f.write_str(&parts.join("\n"))
    }
}

impl Family for Delegation {
    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &[],
            Profile::OpenHands => &["delegate"],
        }
    }
}

impl Toolset for Delegation {
    type Params = ();

    /// The spawner and the store are state of the pool.
    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self::new(spawner_of(context)?, TaskStore::from_context(context)?))
    }
}
