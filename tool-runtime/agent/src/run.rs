//! A conversation of an agent.

mod turn;

use crate::agent::Agent;
use crate::event::{AgentEvent, StopReason};
#[cfg(feature = "mcp-client")]
use crate::servers::Lease;
use crate::trace;
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tool_runtime::__seam::{TraceMembers, current_trace};
use tool_runtime::CancellationToken;
use tool_runtime::agent::{AgentOutcome, AgentRun};
#[cfg(feature = "mcp-client")]
use tool_runtime::mcp::McpServerStatus;
use tool_runtime::pool::PoolSession;
use tool_runtime::prelude::*;
use tool_runtime::tool::Usage;
use tracing::{Instrument as _, Span};
use turn::Phase;

/// A conversation of an agent: a task, and more by [`Self::send`].
///
/// A run has a [session](ToolPool::session) of its pool, and keeps the agent's MCP servers
/// connected. Dropping it cancels requests and calls in flight and ends both; [`Self::close`] also
/// waits for that.
///
/// ```
/// # use tool_runtime::prelude::*;
/// # use tool_runtime_agent::{Agent, ScriptedModel};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let pool = ToolPool::builder().allow_empty().build()?;
/// let model = ScriptedModel::from_json(r#"[{ "text": "Hello!" }, { "text": "Bye." }]"#)?;
/// let mut run = Agent::new(model, pool).run("Hi.");
/// while run.next().await.is_some() {}
/// run.send("Bye.");
/// while run.next().await.is_some() {}
/// // Saved, these resume the conversation in another process.
/// assert_eq!(run.messages()[3]["content"][0]["text"], "Bye.");
/// run.close().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct Run {
    agent: Agent,
    /// The pool of the calls: that of the session, or the one that a sub-agent was given.
    pool: ToolPool,
    session: Option<PoolSession>,
    #[cfg(feature = "mcp-client")]
    servers: Option<Arc<Lease>>,
    /// The base of the contexts of calls.
    context: ToolContext,
    /// The run, as its calls see it.
    own: AgentRun,
    depth: usize,
    messages: Arc<Vec<Value>>,
    events: VecDeque<AgentEvent>,
    inbox: UnboundedReceiver<AgentEvent>,
    outbox: UnboundedSender<AgentEvent>,
    phase: Phase,
    turns: usize,
    usage: Usage,
    /// The value of the answer by which a call ended the run.
    value: Option<Value>,
    /// Cancelled when the run is dropped, or by the token that it was given.
    lifetime: CancellationToken,
    /// Cancels the current task.
    cancellation: CancellationToken,
    /// The span that gave the task.
    caller: Option<TraceMembers>,
    /// The span of the task, once it has begun.
    span: Option<Span>,
    /// The tokens of earlier tasks.
    used_before: Usage,
}

impl Run {
    pub(crate) fn new(agent: Agent, messages: Vec<Value>) -> Self {
        let session = agent.pool.session();
        let (pool, context) = (session.pool().clone(), session.pool().context());
        let mut run = Self::over(agent, pool, context, Arc::new(messages));
        run.session = Some(session);
        run
    }

    /// A run of a sub-agent: it belongs to the session of the run that started it.
    pub(crate) fn nested(
        agent: Agent,
        id: &str,
        context: ToolContext,
        depth: usize,
        messages: Arc<Vec<Value>>,
    ) -> Self {
        let pool = agent.pool.clone();
        let mut run = Self::over(agent, pool, context, messages);
        (run.own, run.depth) = (AgentRun::new(Some(id)), depth);
        run
    }

    fn over(agent: Agent, pool: ToolPool, context: ToolContext, messages: Arc<Vec<Value>>) -> Self {
        let (outbox, inbox) = unbounded_channel();
        let lifetime = CancellationToken::new();
        Self {
            agent,
            pool,
            session: None,
            #[cfg(feature = "mcp-client")]
            servers: None,
            context,
            own: AgentRun::new(None),
            depth: 0,
            messages,
            events: VecDeque::new(),
            inbox,
            outbox,
            phase: Phase::Ask,
            turns: 0,
            usage: Usage::default(),
            value: None,
            cancellation: lifetime.child_token(),
            lifetime,
            caller: current_trace(),
            span: None,
            used_before: Usage::default(),
        }
    }

    /// Cancels the run when the token is cancelled. Default: only [`Self::cancellation`] does.
    #[must_use]
    pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
        self.lifetime = token.child_token();
        self.cancellation = self.lifetime.child_token();
        self
    }

    /// Adapts the context of all calls: the principal, more state, or a
    /// [peer](tool_runtime::peer::Peer) that answers the questions of tools. Default: that of the pool.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// # use tool_runtime_agent::{Agent, ScriptedModel};
    /// # let agent = Agent::new(ScriptedModel::from_json("[]")?, ToolPool::builder().build()?);
    /// use tool_runtime::Principal;
    ///
    /// let run = agent.run("Hi.").with_context(|context| context.with_principal(Principal::new("ada")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_context(mut self, adapt: impl FnOnce(ToolContext) -> ToolContext) -> Self {
        self.context = adapt(std::mem::take(&mut self.context));
        self
    }

    /// Cancels the current task: the request or the calls in flight end, sub-agents too, and
    /// [`StopReason::Cancelled`] is the last event. The run has a new token after the next
    /// [`Self::send`].
    pub fn cancellation(&self) -> CancellationToken {
        self.cancellation.clone()
    }

    /// The conversation so far, in the form of the model's API. It contains complete turns only: a
    /// call without a result is not part of it.
    pub fn messages(&self) -> &[Value] {
        &self.messages
    }

    pub(crate) fn shared_messages(&self) -> Arc<Vec<Value>> {
        Arc::clone(&self.messages)
    }

    /// The tokens of all responses so far, those of sub-agents not included.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The MCP servers of the conversation. Empty before they are started.
    #[cfg(feature = "mcp-client")]
    pub fn servers(&self) -> Vec<McpServerStatus> {
        self.servers.as_ref().map(|lease| lease.status()).unwrap_or_default()
    }

    /// Continues the conversation with another message of the user. Returns immediately: the next
    /// events belong to this message. The current task is abandoned.
    pub fn send(&mut self, task: impl AsRef<str>) {
        if !matches!(self.phase, Phase::Ended) {
            self.cancellation.cancel();
        }
        if self.cancellation.is_cancelled() {
            self.cancellation = self.lifetime.child_token();
        }
        // Events of the abandoned task.
        self.events.clear();
        Arc::make_mut(&mut self.messages).push(self.agent.model.format().user(task.as_ref()));
        // A response of the abandoned task.
        drop(self.own.take_answer());
        (self.turns, self.value, self.phase) = (0, None, Phase::Ask);
        (self.caller, self.span, self.used_before) = (current_trace(), None, self.usage);
    }

    /// The next event, or `None` after the last.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        let cancellation = self.cancellation.clone();
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if matches!(self.phase, Phase::Ended) {
                return None;
            }
            let span = self.span().clone();
            let step = cancellation.run_until_cancelled(self.step());
            if step.instrument(span).await.is_none() {
                self.stop(StopReason::Cancelled);
            }
        }
    }

    /// The span of the task.
    fn span(&mut self) -> &Span {
        let (agent, caller) = (self.own.agent(), self.caller.as_ref());
        self.span.get_or_insert_with(|| trace::task(agent, caller))
    }

    /// Ends the conversation, and waits until its session and its MCP servers are closed. Servers
    /// that another run of the agent uses stay connected.
    pub async fn close(mut self) {
        self.lifetime.cancel();
        self.phase = Phase::Ended;
        if let Some(session) = self.session.take() {
            session.close().await;
        }
        #[cfg(feature = "mcp-client")]
        if let Some(lease) = self.servers.take() {
            lease.release().await;
        }
    }

    /// Runs to the end, and passes each event to `show`.
    pub(crate) async fn outcome(
        &mut self,
        mut show: impl FnMut(AgentEvent),
    ) -> Result<AgentOutcome, ToolError> {
        let (mut outcome, mut end) = (AgentOutcome::default(), None);
        while let Some(event) = self.next().await {
            match &event {
                AgentEvent::Message(text) => outcome.text.clone_from(text),
                AgentEvent::Stopped(StopReason::Done) => {}
                AgentEvent::Stopped(reason) => end = Some(format!("the agent stopped: {reason}")),
                _ => {}
            }
            show(event);
        }
        (outcome.usage, outcome.turns, outcome.value) = (self.usage, self.turns, self.value.take());
        match end {
            None => Ok(outcome),
            Some(reason) if outcome.text.is_empty() => Err(ToolError::user(reason)),
            Some(reason) => {
                let text = outcome.text;
                Err(ToolError::user(format!("{reason}; its last message: {text}")))
            }
        }
    }

    /// Runs to the end and returns the last message of the model.
    ///
    /// # Errors
    /// The run ended before the model was done.
    pub async fn finish(mut self) -> Result<String, ToolError> {
        let outcome = self.outcome(drop).await;
        self.close().await;
        Ok(outcome?.text)
    }
}

/// Ends sub-agents in the background.
impl Drop for Run {
    fn drop(&mut self) {
        self.lifetime.cancel();
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("turns", &self.turns).finish_non_exhaustive()
    }
}
