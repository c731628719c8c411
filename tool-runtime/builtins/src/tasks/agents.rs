//! The tools that start agents.

use super::runner::{Runner, output};
use super::spawn::{AgentInput, spawner_of};
use super::store::TaskStore;
use crate::background::check_not_scheduled;
use crate::builtins::{Family, Profile};
use crate::tool_output::ToolOutput;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;
use tool_runtime::ErrorClass;
use tool_runtime::agent::AgentSpawner;
use tool_runtime::prelude::*;

/// Tools that start agents.
pub(crate) struct Agents {
    spawner: Arc<dyn AgentSpawner>,
    store: TaskStore,
    runner: Arc<Runner>,
}

/// The state of a sub-agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SubAgentStatus {
    /// It has answered.
    Completed,
    /// It runs in the background.
    Running,
}

/// A sub-agent that was started.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct AgentReport {
    /// The id, which resumes the agent.
    pub agent_id: String,
    /// Its task, if it runs in the background.
    pub task_id: Option<String>,
    /// The type of agent that was asked for.
    pub subagent: String,
    /// The state.
    pub status: SubAgentStatus,
    /// The answer, if there is one.
    pub result: Option<String>,
    /// The value of the answer, if it has one.
    pub value: Option<serde_json::Value>,
    /// The requests to the model.
    pub turns: Option<usize>,
}

#[toolset(
    prefix = "",
    read_only = false,
    destructive,
    idempotent = false,
    open_world,
    register = false
)]
impl Agents {
    /// Start another agent, which does a task on its own and returns its answer. It has at most your tools. Use it
    /// for work that can be described completely and whose details you do not need.
    #[tool(name = "Agent", tags("advanced"), writes())]
    async fn agent(
        &self,
        #[arg(flatten)] input: AgentInput,
        context: &ToolContext,
    ) -> Result<ToolOutput<AgentReport>, ToolError> {
        self.run(input, context).await
    }

    /// The same as `Agent`.
    #[tool(name = "Task", tags("advanced"), writes())]
    async fn task(
        &self,
        #[arg(flatten)] input: AgentInput,
        context: &ToolContext,
    ) -> Result<ToolOutput<AgentReport>, ToolError> {
        self.run(input, context).await
    }

    /// Start another agent, which does a task on its own, and wait for its answer.
    #[tool(name = "task", tags("advanced"), writes())]
    async fn open_hands_task(
        &self,
        /// The task, with everything that is needed to do it: the agent does not see this conversation.
        #[arg(length = 1..=100_000)]
        prompt: String,
        /// The task in three to five words, for people.
        #[arg(default = "task")]
        description: String,
        /// The type of agent.
        #[arg(default = "general-purpose")]
        subagent_type: String,
        /// The id of an agent that has ended, which continues its conversation.
        resume: Option<String>,
        context: &ToolContext,
    ) -> Result<ToolOutput<AgentReport>, ToolError> {
        let input = AgentInput { resume, ..AgentInput::new(prompt, description, subagent_type) };
        self.run(input, context).await
    }

    async fn run(
        &self,
        input: AgentInput,
        context: &ToolContext,
    ) -> Result<ToolOutput<AgentReport>, ToolError> {
        if input.run_in_background {
            check_not_scheduled(context, "an agent")?;
        }
        let handle = input.spawn(&*self.spawner, &self.store, context).await?;
        let mut report = AgentReport {
            agent_id: handle.id().to_owned(),
            task_id: None,
            subagent: input.subagent_type,
            status: SubAgentStatus::Running,
            result: None,
            value: None,
            turns: None,
        };
        if input.run_in_background {
            let principal = context.principal().id();
            let task =
                self.runner.adopt(principal, input.description, input.prompt, handle).await?;
            let end = if context.session().is_some() { "session" } else { "program" };
            let text = format!(
                "`{}` runs in the background as `{}`, at most until this {end} ends; `TaskOutput` returns its answer",
                report.agent_id, task.id
            );
            report.task_id = Some(task.id);
            return Ok(ToolOutput::new(text, report));
        }
        let outcome = handle.await.map_err(|error| with_id(error, &report.agent_id))?;
        (report.status, report.turns) = (SubAgentStatus::Completed, Some(outcome.turns));
        report.value.clone_from(&outcome.value);
        let text = output(outcome);
        report.result = Some(text.clone());
        Ok(ToolOutput::new(format!("{text}\n\n[agent `{}`]", report.agent_id), report))
    }

    pub(crate) fn new(
        spawner: Arc<dyn AgentSpawner>,
        store: TaskStore,
        runner: Arc<Runner>,
    ) -> Self {
        Self { spawner, store, runner }
    }
}

/// An error of an agent, with the id that resumes the agent.
fn with_id(error: ToolError, id: &str) -> ToolError {
    let text = format!("{}\n\n[agent `{id}`, which `resume` continues]", error.message());
    let named = match error.class() {
        ErrorClass::Tool => ToolError::user(text),
        ErrorClass::Transient => ToolError::transient(text),
        // Others are for the operator.
        _ => return error,
    };
    match error.source() {
        Some(source) => named.with_source(source.to_string()),
        None => named,
    }
}

impl Family for Agents {
    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &["Agent", "Task"],
            Profile::OpenHands => &["task"],
        }
    }
}

impl Toolset for Agents {
    type Params = ();

    /// The spawner and the store are state of the pool.
    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        let store = TaskStore::from_context(context)?;
        Ok(Self::new(spawner_of(context)?, store.clone(), Runner::new(store)))
    }
}
