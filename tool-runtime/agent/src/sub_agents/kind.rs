//! Named kinds of sub-agents.

use crate::model::Model;
use std::fmt;
use std::sync::Arc;
use tool_runtime::matching::ToolPattern;

/// A kind of sub-agent, which requests name: `SubAgents::kind("explore", ..)`.
///
/// ```
/// use tool_runtime_agent::{AgentKind, ScriptedModel, SubAgents};
///
/// # let model = ScriptedModel::from_json("[]")?;
/// let explore = AgentKind::new("Find things out without changing any.")
///     .system("You explore. Answer with file names and lines.")
///     .tools(["fs.read".parse()?, "fs.search".parse()?])
///     .max_turns(10);
/// let agents = SubAgents::new(model).kind("explore", explore);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct AgentKind {
    pub(super) description: String,
    pub(super) system: Option<String>,
    pub(super) model: Option<Arc<dyn Model>>,
    pub(super) tools: Option<Vec<ToolPattern>>,
    pub(super) max_turns: Option<usize>,
}

impl AgentKind {
    /// A kind with a description for models. Its other settings are those of requests without a
    /// kind.
    pub fn new(description: impl Into<String>) -> Self {
        let description = description.into();
        Self { description, system: None, model: None, tools: None, max_turns: None }
    }

    /// Sets the instructions of requests that have none. Default: those of the spawner.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = Some(system.into());
        self
    }

    /// Sets the model of requests that name none. Default: that of the spawner.
    #[must_use]
    pub fn model(mut self, model: impl Model) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Narrows the tools; requests may narrow them more. An empty list leaves no tool. Default:
    /// all tools of the caller.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = ToolPattern>) -> Self {
        self.tools = Some(tools.into_iter().collect());
        self
    }

    /// Limits the requests to the model. Default: the limit of the spawner, which is never exceeded.
    #[must_use]
    pub fn max_turns(mut self, max_turns: usize) -> Self {
        self.max_turns = Some(max_turns);
        self
    }
}

impl fmt::Debug for AgentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentKind")
            .field("description", &self.description)
            .field("tools", &self.tools)
            .field("max_turns", &self.max_turns)
            .finish_non_exhaustive()
    }
}
