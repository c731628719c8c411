//! The caller of a tool: an agent of a session.

use tool_runtime::ToolContext;
use tool_runtime::agent::AgentRun;
use tool_runtime::tool::SessionId;

/// The caller of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Caller {
    principal: String,
    /// Calls outside a session are of one caller for each principal.
    session: Option<SessionId>,
    /// The sub-agent.
    agent: Option<String>,
}

impl Caller {
    pub(crate) fn from_context(context: &ToolContext) -> Self {
        Self {
            principal: context.principal().id().to_owned(),
            session: context.session().copied(),
            agent: context.get::<AgentRun>().and_then(|run| run.agent().map(str::to_owned)),
        }
    }
}
