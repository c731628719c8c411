//! The seam to agents: tools start sub-agents without depending on models.

use crate::tool::context::ToolContext;
use crate::vocabulary::error::ToolError;
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::matching::pattern::ToolPattern;
use crate::vocabulary::usage::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio_util::sync::CancellationToken;

/// Starts agents for tools. `tool_runtime_agent::SubAgents` implements it.
///
/// A pool is given a spawner as state, and tools borrow it:
///
/// ```
/// use std::sync::Arc;
/// use tool_runtime::prelude::*;
/// use tool_runtime::{BoxFuture, CancellationToken};
/// use tool_runtime::agent::{AgentHandle, AgentOutcome, AgentSpawner, SpawnRequest};
///
/// /// Delegate a task to another agent, which may only read.
/// #[tool]
/// async fn delegate(
///     /// The task, with everything that is needed to do it.
///     task: String,
///     agents: &Arc<dyn AgentSpawner>,
///     context: &ToolContext,
/// ) -> Result<String, ToolError> {
///     let request = SpawnRequest::new(task).tools(["fs.read".parse()?]).max_turns(10);
///     let outcome = agents.spawn(request, context).await?.await?;
///     Ok(outcome.text)
/// }
///
/// /// Repeats the task.
/// struct Echo;
///
/// impl AgentSpawner for Echo {
///     fn spawn<'a>(
///         &'a self,
///         request: SpawnRequest,
///         _: &'a ToolContext,
///     ) -> BoxFuture<'a, Result<AgentHandle, ToolError>> {
///         let outcome = async { Ok(AgentOutcome::new(request.prompt)) };
///         Box::pin(async { Ok(AgentHandle::new("echo", CancellationToken::new(), outcome)) })
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let agents: Arc<dyn AgentSpawner> = Arc::new(Echo);
/// let pool = ToolPool::builder().tool::<DelegateAction>().state(agents).build()?;
/// let result = pool.call(ToolCall::new("delegate", r#"{ "task": "Count." }"#)).await;
/// assert_eq!(result.observation().to_text(), "Count.");
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
pub trait AgentSpawner: Send + Sync + 'static {
    /// Starts an agent for a call. Its tools are at most those that the call may use itself:
    /// [`ToolContext::pool`], narrowed by [`SpawnRequest::tools`].
    ///
    /// # Errors
    /// The request cannot be met: an unknown model, kind or setting, too many agents. The text is for the model.
    fn spawn<'a>(
        &'a self,
        request: SpawnRequest,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<AgentHandle, ToolError>>;

    /// The kinds that [`SpawnRequest::kind`] may name, for the description of a tool. Default: none.
    fn kinds(&self) -> Vec<SpawnKind> {
        Vec::new()
    }
}

/// A kind of agent that a spawner offers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpawnKind {
    /// The name, for requests.
    pub name: String,
    /// The purpose, for models.
    pub description: String,
}

impl SpawnKind {
    /// A kind.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into() }
    }
}

/// A permission mode that a request may ask for. An agent never may what its caller may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SpawnMode {
    /// Asks about everything that is not read-only.
    Default,
    /// Lets edits run.
    AcceptEdits,
    /// Only reads.
    Plan,
    /// Denies where others ask.
    DontAsk,
}

/// A request for a sub-agent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SpawnRequest {
    /// The task.
    pub prompt: String,
    /// The kind of agent, among those that the spawner offers: instructions, a model, tools.
    /// Default: none.
    pub kind: Option<String>,
    /// The beginning of the agent's id, for people. Default: the kind, or the spawner's choice.
    pub name: Option<String>,
    /// The id of an agent that ended; its conversation continues with this task. Default: a new
    /// agent.
    pub resume: Option<String>,
    /// The instructions. Default: those of the kind, or of the spawner.
    pub system: Option<String>,
    /// The name of a model of the spawner. Default: that of the kind, or the spawner's choice.
    pub model: Option<String>,
    /// The tools, among those of the caller. Default: all of them.
    pub tools: Option<Vec<ToolPattern>>,
    /// Skills that are loaded before the task, by the caller's tool `Skill`, for a caller in a session. Default:
    /// none.
    pub skills: Vec<String>,
    /// The permission mode, for spawners that have modes; the others reject it. Default: that of the caller.
    pub mode: Option<SpawnMode>,
    /// The limit on requests to the model; the spawner may set a lower one.
    pub max_turns: Option<usize>,
    /// Whether the agent continues after the call that started it, at most until the session of the call ends.
    /// Default: no.
    pub is_background: bool,
}

impl SpawnRequest {
    /// A request for a foreground agent with a task and all tools of the caller.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            kind: None,
            name: None,
            resume: None,
            skills: Vec::new(),
            mode: None,
            system: None,
            model: None,
            tools: None,
            max_turns: None,
            is_background: false,
        }
    }

    /// Chooses a kind of agent by its name.
    #[must_use]
    pub fn kind(mut self, name: impl Into<String>) -> Self {
        self.kind = Some(name.into());
        self
    }

    /// Sets the beginning of the agent's id.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Continues the conversation of an agent that ended.
    #[must_use]
    pub fn resume(mut self, id: impl Into<String>) -> Self {
        self.resume = Some(id.into());
        self
    }

    /// Loads a skill before the task.
    #[must_use]
    pub fn skill(mut self, name: impl Into<String>) -> Self {
        self.skills.push(name.into());
        self
    }

    /// Sets the permission mode.
    #[must_use]
    pub fn mode(mut self, mode: SpawnMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Sets the instructions.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = Some(system.into());
        self
    }

    /// Chooses a model by its name.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Narrows the tools. An empty list leaves no tool.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = ToolPattern>) -> Self {
        self.tools = Some(tools.into_iter().collect());
        self
    }

    /// Limits the requests to the model.
    #[must_use]
    pub fn max_turns(mut self, max_turns: usize) -> Self {
        self.max_turns = Some(max_turns);
        self
    }

    /// Lets the agent continue after the call that started it, at most until the session of the call ends.
    #[must_use]
    pub fn background(mut self) -> Self {
        self.is_background = true;
        self
    }
}

/// A sub-agent that was started. As a future, it waits for the outcome.
///
/// Dropping it cancels an agent that is not in the background; that agent runs only while its handle
/// is awaited.
#[must_use = "an agent that is not in the background runs while its handle is awaited"]
pub struct AgentHandle {
    id: String,
    cancellation: CancellationToken,
    outcome: BoxFuture<'static, Result<AgentOutcome, ToolError>>,
}

impl AgentHandle {
    /// A handle on an agent that the token cancels and the future waits for.
    pub fn new(
        id: impl Into<String>,
        cancellation: CancellationToken,
        outcome: impl Future<Output = Result<AgentOutcome, ToolError>> + Send + 'static,
    ) -> Self {
        Self { id: id.into(), cancellation, outcome: Box::pin(outcome) }
    }

    /// The id of the agent, unique for its spawner.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Cancels the agent; its outcome is an error.
    pub fn cancel(&self) {
        self.cancellation.cancel();
    }
}

impl Future for AgentHandle {
    type Output = Result<AgentOutcome, ToolError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.outcome.as_mut().poll(context)
    }
}

impl fmt::Debug for AgentHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentHandle").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The outcome of a finished sub-agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentOutcome {
    /// The last message of the model, or the answer of [`AgentRun::finish`](crate::tool::agent::AgentRun::finish).
    pub text: String,
    /// The value of that answer. Default: none.
    pub value: Option<Value>,
    /// The tokens of all requests.
    pub usage: Usage,
    /// The number of requests.
    pub turns: usize,
}

impl AgentOutcome {
    /// An outcome without usage.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}
