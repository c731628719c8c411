//! Agents that calls start.

use crate::agent::Agent;
use crate::event::AgentEvent;
use crate::model::Model;
use crate::run::Run;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tool_runtime::prelude::*;
use tool_runtime::{
    AgentHandle, AgentOutcome, AgentSpawner, BoxFuture, CancellationToken, Restriction,
    SpawnRequest,
};

const MAX_TURNS: usize = 50;
const MAX_DEPTH: usize = 3;
const MAX_RUNNING: usize = 8;

/// Starts sub-agents for tools, as [`AgentSpawner`] whose page shows such a tool.
///
/// A sub-agent has the tools of the call that starts it, or fewer, and its principal, state and
/// session. It is cancelled with the run of its parent; one that is not in the background also with
/// the call. Its events are events of its parent's run, [`AgentEvent::SubAgent`].
///
/// ```
/// use std::sync::Arc;
/// use tool_runtime::prelude::*;
/// use tool_runtime::{AgentSpawner, SpawnRequest};
/// use tool_runtime_agent::{Agent, ScriptedModel, SubAgents};
///
/// /// Delegate a task to another agent.
/// #[tool]
/// async fn delegate(
///     /// The task, with everything that is needed to do it.
///     task: String,
///     agents: &Arc<dyn AgentSpawner>,
///     context: &ToolContext,
/// ) -> Result<String, ToolError> {
///     let request = SpawnRequest::new(task).model("small").tools([]);
///     Ok(agents.spawn(request, context).await?.await?.text)
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let small = ScriptedModel::from_json(r#"[{ "text": "Fish swim." }]"#)?;
/// let large = Arc::new(ScriptedModel::from_json(r#"[
///     { "calls": [{ "name": "delegate", "arguments": { "task": "What do fish do?" } }] },
///     { "text": "They swim." }
/// ]"#)?);
/// let agents: Arc<dyn AgentSpawner> =
///     Arc::new(SubAgents::new(Arc::clone(&large)).model("small", small));
/// let pool = ToolPool::builder().tool::<DelegateAction>().state(agents).build()?;
/// assert_eq!(Agent::new(large, pool).run("Fish?").finish().await?, "They swim.");
/// # Ok::<(), ToolError>(())
/// # }).unwrap();
/// ```
pub struct SubAgents {
    default: Arc<dyn Model>,
    models: BTreeMap<String, Arc<dyn Model>>,
    system: String,
    max_turns: usize,
    max_depth: usize,
    max_running: usize,
    running: Arc<Semaphore>,
    next_id: AtomicU64,
}

/// The run that a call belongs to, as state of its context.
pub(crate) struct RunScope {
    pub(crate) depth: usize,
    pub(crate) cancellation: CancellationToken,
    pub(crate) events: UnboundedSender<AgentEvent>,
}

impl SubAgents {
    /// Sub-agents with a model for requests that name none.
    pub fn new(model: impl Model) -> Self {
        Self {
            default: Arc::new(model),
            models: BTreeMap::new(),
            system: String::new(),
            max_turns: MAX_TURNS,
            max_depth: MAX_DEPTH,
            max_running: MAX_RUNNING,
            running: Arc::new(Semaphore::new(MAX_RUNNING)),
            next_id: AtomicU64::new(1),
        }
    }

    /// Adds a model that requests may name.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>, model: impl Model) -> Self {
        self.models.insert(name.into(), Arc::new(model));
        self
    }

    /// Sets the instructions of sub-agents whose request has none. Default: none.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// Limits the requests of one sub-agent to its model. Default: 50.
    #[must_use]
    pub fn max_turns(mut self, max_turns: usize) -> Self {
        self.max_turns = max_turns.max(1);
        self
    }

    /// Limits how deep sub-agents nest. Default: 3.
    #[must_use]
    pub fn max_depth(mut self, max_depth: usize) -> Self {
        self.max_depth = max_depth;
        self
    }

    /// Limits the sub-agents that run at a time, those of all runs together. Default: 8.
    #[must_use]
    pub fn max_running(mut self, max_running: usize) -> Self {
        self.max_running = max_running.min(Semaphore::MAX_PERMITS);
        self.running = Arc::new(Semaphore::new(self.max_running));
        self
    }

    fn model_named(&self, name: Option<&str>) -> Result<Arc<dyn Model>, ToolError> {
        let Some(name) = name else { return Ok(Arc::clone(&self.default)) };
        self.models.get(name).cloned().ok_or_else(|| {
            let names: Vec<String> = self.models.keys().map(|name| format!("`{name}`")).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            ToolError::user(format!(
                "`{name}` is not a known model; leave it out, or name one of these: {names}"
            ))
        })
    }

    fn check_depth(&self, depth: usize) -> Result<(), ToolError> {
        if depth < self.max_depth {
            return Ok(());
        }
        let max = self.max_depth;
        Err(ToolError::user(format!("agents nest deeper than {max}; do this task yourself")))
    }

    fn permit(&self) -> Result<OwnedSemaphorePermit, ToolError> {
        Arc::clone(&self.running).try_acquire_owned().map_err(|_| {
            let max = self.max_running;
            ToolError::transient(format!(
                "{max} agents run already; wait until one of them is done"
            ))
        })
    }

    fn start(
        &self,
        request: SpawnRequest,
        context: &ToolContext,
    ) -> Result<AgentHandle, ToolError> {
        let scope = context.get::<RunScope>();
        let depth = scope.map_or(0, |scope| scope.depth);
        self.check_depth(depth)?;
        let model = self.model_named(request.model.as_deref())?;
        let pool = context.pool().ok_or_else(|| ToolError::user("no pool runs this call"))?;
        let ended =
            scope.map_or_else(|| pool.closing().child_token(), |s| s.cancellation.child_token());
        let restriction = request.tools.map(|tools| pool.restrict(tools)).transpose()?;
        let agent = Agent::new(model, pool)
            .system(request.system.unwrap_or_else(|| self.system.clone()))
            .max_turns(request.max_turns.map_or(self.max_turns, |max| max.min(self.max_turns)));
        let base = if request.is_background { context.detached() } else { context.clone() };
        let mut run = Run::nested(agent, base, depth + 1).with_cancellation(ended);
        run.send(request.prompt);
        let id = format!("agent-{}", self.next_id.fetch_add(1, Ordering::Relaxed));
        let cancellation = run.cancellation();
        let worker = Worker {
            run,
            id: id.clone(),
            events: scope.map(|scope| scope.events.clone()),
            _restriction: restriction,
            _permit: self.permit()?,
        };
        let outcome =
            if request.is_background { worker.in_background() } else { Box::pin(worker.work()) };
        Ok(AgentHandle::new(id, cancellation, outcome))
    }
}

impl AgentSpawner for SubAgents {
    /// # Errors
    /// The model is unknown, agents nest too deep, or too many run.
    fn spawn<'a>(
        &'a self,
        request: SpawnRequest,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<AgentHandle, ToolError>> {
        Box::pin(async move { self.start(request, context) })
    }
}

/// A sub-agent at work, with what it holds.
struct Worker {
    run: Run,
    id: String,
    /// The events of the parent's run.
    events: Option<UnboundedSender<AgentEvent>>,
    _restriction: Option<Restriction>,
    _permit: OwnedSemaphorePermit,
}

impl Worker {
    async fn work(mut self) -> Result<AgentOutcome, ToolError> {
        let (id, events) = (self.id, self.events);
        let show = |event: AgentEvent| {
            if let Some(events) = &events {
                // A run that was dropped has no events.
                drop(events.send(AgentEvent::SubAgent { id: id.clone(), event: Box::new(event) }));
            }
        };
        self.run.outcome(show).await
    }

    /// Works in a task of its own.
    fn in_background(self) -> BoxFuture<'static, Result<AgentOutcome, ToolError>> {
        let task = tokio::spawn(self.work());
        Box::pin(async move { task.await.unwrap_or_else(|error| Err(ToolError::internal(error))) })
    }
}

impl std::fmt::Debug for SubAgents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SubAgents")
            .field("models", &self.models.keys())
            .field("max_turns", &self.max_turns)
            .field("max_depth", &self.max_depth)
            .field("max_running", &self.max_running)
            .finish_non_exhaustive()
    }
}
