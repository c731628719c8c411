//! Agents that calls start.

mod conversations;
mod kind;
mod request;
mod session_end;

pub use kind::AgentKind;

use crate::agent::Agent;
use crate::event::AgentEvent;
use crate::model::Model;
use crate::run::Run;
use conversations::{Conversation, Conversations};
use request::load_skills;
use session_end::SessionEnd;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tool_runtime::agent::SpawnMode;
use tool_runtime::agent::{AgentHandle, AgentOutcome, AgentSpawner, SpawnKind, SpawnRequest};
use tool_runtime::pool::{PoolSession, Restriction};
use tool_runtime::prelude::*;
use tool_runtime::{BoxFuture, CancellationToken};

const MAX_TURNS: usize = 50;
const MAX_DEPTH: usize = 3;
const MAX_RUNNING: usize = 8;
const MAX_ENDED: usize = 32;

/// Starts sub-agents for tools. The page of [`AgentSpawner`] shows such a tool.
///
/// A sub-agent has the tools of the call that starts it, or fewer, and its principal, state and
/// session. It is cancelled with the run of its parent; one that is not in the background also with
/// the call, and one in the background with the session of the call. Its calls have the labels of the
/// execution that the call belongs to. Its events are events of its parent's run, [`AgentEvent::SubAgent`].
///
/// A request may name a [kind](Self::kind), and may resume an agent by its id: one that ended,
/// however it did, and that was started in the same session for the same principal. It continues
/// with its model, its instructions and at most its tools.
///
/// ```
/// use std::sync::Arc;
/// use tool_runtime::prelude::*;
/// use tool_runtime::agent::{AgentSpawner, SpawnRequest};
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
    kinds: BTreeMap<String, AgentKind>,
    system: String,
    max_turns: usize,
    max_depth: usize,
    max_running: usize,
    running: Arc<Semaphore>,
    next_id: AtomicU64,
    conversations: Arc<Conversations>,
    set_mode: Option<Box<SetMode>>,
}

/// Sets the permission mode of the session of a context.
type SetMode = dyn Fn(SpawnMode, &ToolContext) -> Result<(), ToolError> + Send + Sync;

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
            kinds: BTreeMap::new(),
            system: String::new(),
            max_turns: MAX_TURNS,
            max_depth: MAX_DEPTH,
            max_running: MAX_RUNNING,
            running: Arc::new(Semaphore::new(MAX_RUNNING)),
            next_id: AtomicU64::new(1),
            conversations: Arc::new(Conversations::new(MAX_ENDED)),
            set_mode: None,
        }
    }

    /// Adds a model that requests may name.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>, model: impl Model) -> Self {
        self.models.insert(name.into(), Arc::new(model));
        self
    }

    /// Adds a kind that requests may name: instructions, a model, tools.
    #[must_use]
    pub fn kind(mut self, name: impl Into<String>, kind: AgentKind) -> Self {
        self.kinds.insert(name.into(), kind);
        self
    }

    /// Sets the instructions of sub-agents whose request and kind have none. Default: none.
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

    /// Limits the agents that ended and can be resumed; the oldest are forgotten. Default: 32.
    #[must_use]
    pub fn max_ended(mut self, max_ended: usize) -> Self {
        self.conversations = Arc::new(Conversations::new(max_ended));
        self
    }

    /// Lets requests set a permission mode. An agent never may what its caller may not: the modes of both decide. The
    /// pool must have these permissions as a policy. Default: requests with a mode are rejected.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tool_runtime::policy::{PermissionMode, Permissions};
    /// use tool_runtime::ToolPool;
    /// use tool_runtime::agent::AgentSpawner;
    /// use tool_runtime_agent::{ScriptedModel, SubAgents};
    ///
    /// let permissions = Permissions::new(PermissionMode::AcceptEdits);
    /// let agents = SubAgents::new(ScriptedModel::from_json("[]")?).permissions(permissions.clone());
    /// let agents: Arc<dyn AgentSpawner> = Arc::new(agents);
    /// let pool = ToolPool::builder().state(agents).policy(permissions).allow_empty().build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "policy")]
    #[must_use]
    pub fn permissions(mut self, permissions: tool_runtime::policy::Permissions) -> Self {
        use tool_runtime::policy::PermissionMode;
        self.set_mode = Some(Box::new(move |mode, context| {
            let mode = match mode {
                SpawnMode::Default => PermissionMode::Default,
                SpawnMode::AcceptEdits => PermissionMode::AcceptEdits,
                SpawnMode::Plan => PermissionMode::Plan,
                SpawnMode::DontAsk => PermissionMode::DontAsk,
            };
            permissions.narrow_for(context, mode).map_err(ToolError::internal)
        }));
        self
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

    /// A separate session, within that of the caller, for a permission mode or for skills, which narrow the tools of a
    /// session. `None` without these.
    fn session(
        &self,
        mode: Option<SpawnMode>,
        skills: &[String],
        pool: &ToolPool,
        context: &ToolContext,
    ) -> Result<Option<PoolSession>, ToolError> {
        let mode = mode.zip(self.set_mode.as_ref());
        if mode.is_none() && skills.is_empty() {
            return Ok(None);
        }
        let session = pool.session();
        if let Some((mode, set_mode)) = mode {
            set_mode(mode, &session.enter(context))?;
        }
        Ok(Some(session))
    }

    /// Checks a request, and reserves what its agent needs.
    fn admit(
        &self,
        request: &SpawnRequest,
        context: &ToolContext,
        depth: usize,
    ) -> Result<Admitted, ToolError> {
        self.check_depth(depth)?;
        let conversation = self.conversation(request, context)?;
        let id = self.id(request)?;
        let pool = context.pool().ok_or_else(|| ToolError::user("no pool runs this call"))?;
        let permit = self.permit()?;
        let session = self.session(conversation.mode, &request.skills, &pool, context)?;
        let pool = session.as_ref().map_or(pool, |session| session.pool().clone());
        Ok(Admitted { id, conversation, pool, session, permit })
    }

    async fn start(
        &self,
        request: SpawnRequest,
        context: &ToolContext,
    ) -> Result<AgentHandle, ToolError> {
        let scope = context.get::<RunScope>();
        let depth = scope.map_or(0, |scope| scope.depth);
        let admitted = self.admit(&request, context, depth)?;
        let skills =
            load_skills(&admitted.pool, &request.skills, &admitted.enter(context.clone())).await?;
        let base = if request.is_background { context.detached() } else { context.clone() };
        let base = admitted.enter(base);
        let Admitted { id, conversation, pool, session, permit } = admitted;
        let restrictions = conversation.tools.iter().map(|tools| pool.restrict(tools.clone()));
        let restrictions = restrictions.collect::<Result<Vec<_>, _>>()?;
        let ended =
            scope.map_or_else(|| pool.closing().child_token(), |s| s.cancellation.child_token());
        let session_end = request.is_background.then(|| SessionEnd::watch(context, &ended));
        let agent = self.agent(&conversation, request.max_turns, pool);
        let messages = Arc::clone(&conversation.messages);
        let mut run = Run::nested(agent, &id, base, depth + 1, messages).with_cancellation(ended);
        run.send(skills + &request.prompt);
        let cancellation = run.cancellation();
        self.conversations.begin(&id, context);
        let worker = Worker {
            run,
            id: id.clone(),
            events: scope.map(|scope| scope.events.clone()),
            conversation,
            conversations: Arc::clone(&self.conversations),
            _session: session,
            _restrictions: restrictions,
            _permit: permit,
            session_end,
        };
        let outcome =
            if request.is_background { worker.in_background() } else { Box::pin(worker.work()) };
        Ok(AgentHandle::new(id, cancellation, outcome))
    }

    /// The agent of a conversation.
    fn agent(
        &self,
        conversation: &Conversation,
        max_turns: Option<usize>,
        pool: ToolPool,
    ) -> Agent {
        let limit = conversation.max_turns.min(self.max_turns);
        Agent::new(Arc::clone(&conversation.model), pool)
            .system(&*conversation.system)
            .max_turns(max_turns.map_or(limit, |max| max.min(limit)))
    }
}

/// An agent that may start.
struct Admitted {
    id: String,
    conversation: Conversation,
    /// The pool of the session, if there is one.
    pool: ToolPool,
    session: Option<PoolSession>,
    permit: OwnedSemaphorePermit,
}

impl Admitted {
    /// A context of the agent's calls.
    fn enter(&self, context: ToolContext) -> ToolContext {
        match &self.session {
            Some(session) => session.enter(&context),
            None => context,
        }
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
        Box::pin(self.start(request, context))
    }

    fn kinds(&self) -> Vec<SpawnKind> {
        let kind = |(name, kind): (&String, &AgentKind)| SpawnKind::new(name, &kind.description);
        self.kinds.iter().map(kind).collect()
    }
}

/// A running sub-agent with its resources.
struct Worker {
    run: Run,
    id: String,
    /// The events of the parent's run.
    events: Option<UnboundedSender<AgentEvent>>,
    conversation: Conversation,
    conversations: Arc<Conversations>,
    /// The session that has the mode and the skills of the agent.
    _session: Option<PoolSession>,
    _restrictions: Vec<Restriction>,
    _permit: OwnedSemaphorePermit,
    /// Ends an agent in the background with its session. It is the last field, since the session waits until the others
    /// are dropped.
    session_end: Option<SessionEnd>,
}

impl Worker {
    async fn work(mut self) -> Result<AgentOutcome, ToolError> {
        let (id, events) = (self.id.clone(), self.events.take());
        let show = |event: AgentEvent| {
            if let Some(events) = &events {
                // A run that was dropped has no events.
                drop(events.send(AgentEvent::SubAgent { id: id.clone(), event: Box::new(event) }));
            }
        };
        let outcome = self.run.outcome(show).await;
        match &self.session_end {
            Some(session_end) => session_end.explain(outcome),
            None => outcome,
        }
    }

    /// Runs in a separate task.
    fn in_background(self) -> BoxFuture<'static, Result<AgentOutcome, ToolError>> {
        let task = tokio::spawn(self.work());
        Box::pin(async move { task.await.unwrap_or_else(|error| Err(ToolError::internal(error))) })
    }
}

/// However an agent ends, it can be resumed.
impl Drop for Worker {
    fn drop(&mut self) {
        let messages = self.run.shared_messages();
        let conversation = Conversation { messages, ..self.conversation.clone() };
        self.conversations.end(&self.id, conversation);
    }
}

impl std::fmt::Debug for SubAgents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SubAgents")
            .field("models", &self.models.keys())
            .field("kinds", &self.kinds.keys())
            .field("max_turns", &self.max_turns)
            .field("max_depth", &self.max_depth)
            .field("max_running", &self.max_running)
            .finish_non_exhaustive()
    }
}
