//! The identity of an agent in a team.

use tool_runtime::ToolContext;
use tool_runtime::agent::AgentRun;

/// The name of the agent that no other agent started.
pub(super) const LEAD: &str = "lead";

/// The identity of an agent: a value of its context, which the agent that starts it sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// The lead of all teams of its principal.
    Lead,
    /// A member of the team with this number.
    Member { team: i64, name: String },
    /// A sub-agent without a team.
    Outsider,
}

impl Identity {
    pub(super) fn from_context(context: &ToolContext) -> Self {
        let is_sub_agent = || context.get::<AgentRun>().is_some_and(|run| run.agent().is_some());
        match context.get::<Self>() {
            Some(identity) => identity.clone(),
            // Started by a tool that does not set an identity.
            None if is_sub_agent() => Self::Outsider,
            None => Self::Lead,
        }
    }

    /// The team, unless it is all teams, and the name there.
    pub(super) fn address(&self) -> (Option<i64>, &str) {
        match self {
            Self::Lead => (None, LEAD),
            Self::Member { team, name } => (Some(*team), name),
            Self::Outsider => (None, ""),
        }
    }
}
