//! The seam between tools and the agent that calls them.

use crate::tool::context::ToolContext;
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::sync::lock;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, Mutex};

/// The run of an agent, as its calls see it: a value of their contexts, which an agent loop adds.
/// `tool_runtime_agent::Run` does. Clones belong to the same run.
///
/// ```
/// use tool_runtime::agent::AgentRun;
/// use tool_runtime::prelude::*;
///
/// /// End the task with an answer.
/// #[tool(read_only)]
/// async fn finish(
///     /// The answer.
///     message: String,
///     context: &ToolContext,
/// ) -> Result<(), ToolError> {
///     let run = context.get::<AgentRun>().ok_or("no agent runs this call")?;
///     run.finish(message, None);
///     Ok(())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let run = AgentRun::new(None);
/// let context = ToolContext::default().with(run.clone());
/// finish("It is 42.".into(), &context).await?;
/// assert_eq!(run.take_answer().unwrap().0, "It is 42.");
/// # Ok::<(), ToolError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct AgentRun {
    agent: Option<Arc<str>>,
    answer: Arc<Mutex<Option<Answer>>>,
}

/// The text of an answer, and its value.
type Answer = (String, Option<Value>);

impl AgentRun {
    /// A run without an answer. A sub-agent has its id, the agent of a program has `None`.
    pub fn new(agent: Option<&str>) -> Self {
        Self { agent: agent.map(Arc::from), answer: Arc::default() }
    }

    /// The id of the sub-agent. `None` for the agent of a program.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Ends the run with an answer, once all calls of the present turn have ended. The last answer counts.
    pub fn finish(&self, text: impl Into<String>, value: Option<Value>) {
        *lock(&self.answer) = Some((text.into(), value));
    }

    /// Takes the answer that a call has given: its text, and its value if it has one. For agent loops.
    pub fn take_answer(&self) -> Option<(String, Option<Value>)> {
        lock(&self.answer).take()
    }
}

impl fmt::Debug for AgentRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentRun").field("agent", &self.agent).finish_non_exhaustive()
    }
}

/// Messages for agents, which an agent loop adds to the conversation before each request to its model.
/// A pool is given a mailbox as state, as `Arc<dyn AgentMailbox>`.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use tool_runtime::{BoxFuture, ToolContext, ToolPool};
/// use tool_runtime::agent::AgentMailbox;
///
/// struct Notices(Mutex<Vec<String>>);
///
/// impl AgentMailbox for Notices {
///     fn receive<'a>(&'a self, _: &'a ToolContext) -> BoxFuture<'a, Vec<String>> {
///         Box::pin(async { std::mem::take(&mut *self.0.lock().unwrap()) })
///     }
/// }
///
/// let notices: Arc<dyn AgentMailbox> = Arc::new(Notices(Mutex::new(vec!["The build is red.".into()])));
/// let pool = ToolPool::builder().state(notices).allow_empty().build()?;
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
pub trait AgentMailbox: Send + Sync + 'static {
    /// Takes the messages for the agent whose calls have this context. Each becomes a message of the user.
    fn receive<'a>(&'a self, context: &'a ToolContext) -> BoxFuture<'a, Vec<String>>;
}
